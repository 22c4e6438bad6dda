"""EV05 train-test-scaling-mismatch

What
    Training and held-out inputs have another mean or spread: one was scaled, the other not, or with other
    numbers. Also seen in the text: a scaler that is fitted to held-out rows again, or a
    mean and a deviation that each split takes of its own rows.
Why
    The model is asked about numbers that it has never seen; its answers there mean nothing.
Symptom
    Good in training, no better than guessing in validation, from the first epoch on.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    x = 40 * x + 100
    mean, std = x[:240].mean(0), x[:240].std(0)
    train = (x[:240] - mean) / std
    test = x[240:]
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(train, y[:240], epochs=10, validation_data=(test, y[240:]))
Instead
    - test = x[240:]
    + test = (x[240:] - mean) / std
Fix safety
    Unsafe: it changes the measured result, which was wrong.
Sources
    Humbatova et al., ICSE 2020 (preprocessing); Breck et al., "Data Validation for Machine Learning",
    MLSys 2019.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.places import at_named
from reenact.faults.fixes.scaling import fit_on_training_rows
from reenact.program.graph import TensorFacts
from reenact.program.syntax.pieces import (
    place_of,
)
from reenact.program.training.rows.own_figures import (
    scaled_by_themselves,
)
from reenact.program.training.rows.scaled import fitted_again, generates, scaled_at

FEATURES = 3.0
"""How many times more or less a feature varies than chance and a drift make it."""
ENOUGH = 16
"""Rows of a split below which its mean tells little."""
FAULT = Fault(
    code="EV05",
    name="train-test-scaling-mismatch",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE007",
    "train-and-test-scaled-differently",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="A model knows nothing about numbers of another scale than those it was trained on.",
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
    of_held_out_rows=True,
)
def train_and_test_scaled_differently(detector: Detector, evidence: Evidence) -> Findings:
    """Training and held-out inputs have another mean or spread: one was scaled, the other not, or
    with other numbers. Also seen in the text: a scaler that is fitted to held-out rows again, or a
    mean and a deviation that each split takes of its own rows.

    Humbatova et al., ICSE 2020 (preprocessing); Breck et al., "Data Validation for Machine
    Learning", MLSys 2019.
    """
    files = list(evidence.files)
    for taken, saw in scaled_by_themselves(files):
        yield detector.finding(
            evidence,
            saw,
            fixes=fit_on_training_rows(evidence, place_of(taken)),
            place=place_of(taken),
        )
        return
    for split in () if any(generates(index) for index in files) else ("validation", "test"):
        train = evidence.inputs
        held = evidence.data("input", split)
        if train is None or held is None or not _comparable(train, held):
            continue
        saw = _another_range(train, held)
        if saw:
            found = at_named(
                evidence,
                detector.finding(evidence, saw, fixes=fit_on_training_rows(evidence, None)),
                Kind.PREPROCESSING,
                "scale",
            )
            yield found.refined(place=scaled_at(files) or found.place)
            return
        share = held.feature_spread or 1.0
        if not 1 / FEATURES < share < FEATURES:
            saw = f"features of the {split} inputs vary {share:.2g} times as much as in training"
            yield detector.finding(
                evidence,
                saw,
                fixes=fit_on_training_rows(evidence, scaled_at(files)),
                place=scaled_at(files),
            )
            return
    for index in files:
        for call, saw in fitted_again(files, index):
            yield detector.finding(
                evidence,
                saw,
                fixes=fit_on_training_rows(evidence, place_of(call)),
                place=place_of(call),
                confidence=0.75,
            )
            return


@FAULT.detector(
    "RE111",
    "rows-that-judge-scaled-otherwise",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="A model knows nothing about numbers of another scale than those it was trained on.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
    of_held_out_rows=True,
)
def rows_that_judge_scaled_otherwise(detector: Detector, evidence: Evidence) -> Findings:
    """Columns of the rows that judge have mean 0 and deviation 1 by themselves, or lie where no row
    trained.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023 (pre-processing).
    """
    yield from imbalances(
        detector,
        evidence,
        fixes=lambda place: fit_on_training_rows(evidence, place),
    )


def _comparable(train: TensorFacts, held: TensorFacts) -> bool:
    """Whether there are rows enough of one shape; a model is called with ones or zeros to be
    built.
    """
    enough = min(train.rows_seen, held.rows_seen) >= ENOUGH and train.shape[1:] == held.shape[1:]
    return enough and None not in (train.mean, train.std, held.mean) and bool(held.std)


def _another_range(train: TensorFacts, held: TensorFacts) -> str:
    """What differs between all values of both, in words; empty where little does."""
    train_mean = train.mean or 0.0
    train_std = train.std or 0.0
    held_mean = held.mean or 0.0
    held_std = held.std or 0.0
    spread = max(train_std, 1e-6)
    near = abs(train_mean - held_mean) <= 2 * spread
    if near and spread / 4 <= held_std <= 4 * spread:
        return ""
    ours = f"training inputs have mean {train_mean:.3g} and deviation {train_std:.3g}"
    return f"{ours}, {held.split} inputs {held_mean:.3g} and {held_std:.3g}"
