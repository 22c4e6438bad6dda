"""RE007 train-and-test-scaled-differently

What
    Training and held-out inputs have another mean or spread: one was scaled, the other not, or with other
    numbers.
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

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity, TensorFacts
from reenact.rules.own._places import at_hyperparameter, named_hyperparameter

ENOUGH = 16
"""Rows of a split below which its mean tells little."""


class TrainAndTestScaledDifferently(Rule):
    code, name, family, fault = "RE007", "train-and-test-scaled-differently", "reenact", Fault.CPP
    needs = Needs.GRAPH
    severity = Severity.ERROR
    confidence = 0.85
    certainty = Certainty.STRONG
    why = "A model knows nothing about numbers of another scale than those it was trained on."

    def check(self, evidence: Evidence) -> Findings:
        train = evidence.inputs
        for split in ("validation", "test"):
            held = evidence.data("input", split)
            if train is not None and held is not None and _differ(train, held):
                finding = self.finding(
                    evidence,
                    f"training inputs have mean {train.mean:.3g} and deviation {train.std:.3g}, "
                    f"{split} inputs {held.mean:.3g} and {held.std:.3g}",
                )
                yield at_hyperparameter(finding, named_hyperparameter(evidence, Kind.PREPROCESSING, "scale"))
                return


def _differ(train: TensorFacts, held: TensorFacts) -> bool:
    if train.mean is None or train.std is None or held.mean is None or held.std is None:
        return False
    if not held.std:
        # A model is called with ones or zeros to be built, or to be looked at.
        return False
    if min(train.rows_seen, held.rows_seen) < ENOUGH or train.shape[1:] != held.shape[1:]:
        return False
    spread = max(train.std, 1e-6)
    moved = abs(train.mean - held.mean) > 2 * spread
    return moved or held.std > 4 * spread or held.std < spread / 4
