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

import ast
from collections.abc import Sequence
from itertools import permutations

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
    Place,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.facts.places import at_named
from reenact.faults.fixes.scaling import fit_on_training_rows
from reenact.program.flow.uses import stores
from reenact.program.graph import TensorFacts
from reenact.program.syntax.excerpt import excerpt, key_of, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    calls_in,
    file_of,
    is_call,
    is_sum,
    names,
    owner_of,
    place_of,
    within,
)
from reenact.program.training.roles import is_without_gradients
from reenact.program.training.rows.own_figures import (
    FIGURES,
    held_out_in_turn,
    scaled_by_themselves,
)
from reenact.program.training.rows.splits import apart, evaluated, pairs

PLAIN_SCALERS = (
    "MaxAbsScaler",
    "MinMaxScaler",
    "Normalization",
    "RobustScaler",
    "StandardScaler",
)
SCALERS = (
    *PLAIN_SCALERS,
    "CountVectorizer",
    "IterativeImputer",
    "KNNImputer",
    "PCA",
    "PowerTransformer",
    "QuantileTransformer",
    "SimpleImputer",
    "TfidfVectorizer",
    "TruncatedSVD",
)
"""Classes of scikit-learn and Keras that learn from rows how to change them."""
FITS = ("fit_transform", "fit", "adapt")
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
    for split in () if any(_generates(index) for index in files) else ("validation", "test"):
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
            yield found.refined(place=_scaled_at(files) or found.place)
            return
        share = held.feature_spread or 1.0
        if not 1 / FEATURES < share < FEATURES:
            saw = f"features of the {split} inputs vary {share:.2g} times as much as in training"
            yield detector.finding(
                evidence,
                saw,
                fixes=fit_on_training_rows(evidence, _scaled_at(files)),
                place=_scaled_at(files),
            )
            return
    for index in files:
        for call, saw in _fitted_again(files, index):
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


def _fitted_again(files: Sequence[FileIndex], index: FileIndex) -> Found:
    """Scalers that are fitted to held-out rows, and what says so."""
    fits = [call for call in index.calls if is_call(call, *FITS) and _is_scaler(call)]
    for first, second in permutations(fits, 2):
        if apart(first.args[0], second.args[0]):
            held, rest = excerpt(second.args[0]), excerpt(first.args[0])
            saw = f"a scaler is fitted to {held} apart from {rest}: one value means two things"
            yield second, saw
    for call in fits:
        rows = held_out_in_turn(files, call, call.args[0])
        if rows is not None:
            saw = f"a scaler is fitted to {excerpt(rows)} by itself: one value means two things"
            yield call, saw


def _is_scaler(call: ast.Call) -> bool:
    """Whether what is fitted here, to rows of numbers, learns their scale."""
    owner = owner_of(call)
    # What is only fitted may be meant for a picture of these rows.
    kinds = SCALERS if called(call) == "fit_transform" else PLAIN_SCALERS
    stored = stores(file_of(call).tree)
    made = [owner, *(value for target, value in stored if same(target, owner))]
    return bool(call.args) and any(calls_in(value, *kinds) for value in made if value)


def _generates(index: FileIndex) -> bool:
    """Whether a model is asked without gradients about what it has just answered, over and over:
    what it is then given is made by itself, and no held-out rows.
    """
    for loop in index.loops:
        given = {key_of(node.targets[0]): node.value for node in within(loop, ast.Assign)}
        for call in within(loop, ast.Call) if is_without_gradients(loop) else ():
            first = key_of(call.args[0]) if call.args else ""
            again = given.get(first)
            answers = {name for name, value in given.items() if call in all_parts(value)}
            # A value that is made of the call, or of a variable that holds its answer, in a further
            # step.
            made_of = again is not None and not is_call(again) and call in all_parts(again)
            if again is not None and (made_of or names(again) & (answers - {first})):
                return True
    return False


def _scaled_at(files: Sequence[FileIndex]) -> Place | None:
    """Where rows of a split are scaled or given what a scale is made of: held-out rows first, for
    what is done to them is what differs from the rest.
    """
    scaled: list[tuple[bool, Place]] = []
    for index in files:
        held = evaluated(index)
        trained = {name for first, _ in pairs(index) for name in names(first)}
        for node in within(index.tree, ast.Assign):
            stored = {name for target in node.targets for name in names(target)}
            if stored & (held | trained) and any(map(_scales, all_parts(node.value))):
                scaled.append((not stored & held, place_of(node.value)))
    if scaled:
        return min(scaled, key=lambda candidate: candidate[0])[1]
    return None


def _scales(node: ast.AST) -> bool:
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) and is_sum(node.left, ast.Sub)
    return is_call(node, "transform", "fit_transform", "Normalize", *FIGURES)


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
