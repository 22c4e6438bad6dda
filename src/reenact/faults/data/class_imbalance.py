"""DA07 class-imbalance

What
    The most frequent class has more than ten times the rows of the rarest, and nothing is done about it.
Why
    Always naming the frequent class is already good; the rare one contributes too little to the gradient
    to be learned.
Symptom
    High accuracy, and a rare class that is never predicted.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(450, spread=3.0)
    many = (y != 2) | (x[:, 0] > 1.2)
    x, y = x[many], y[many]
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.fit(x, y, epochs=10, validation_split=0.2)
    + model.fit(x, y, epochs=10, validation_split=0.2, class_weight={0: 0.5, 1: 0.5, 2: 5.0})
Fix safety
    Unsafe: weights, resampling or another metric are for the program to choose.
Sources
    SageMaker Debugger (ClassImbalance, ratio 10); He and Garcia, "Learning from Imbalanced Data", TKDE
    2009.
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
    TaskType,
)
from reenact.faults.facts.series import accuracy
from reenact.faults.fixes.classes import weigh_classes
from reenact.program.flow.library_uses import has_keyword
from reenact.program.syntax.lines import calls

RATIO, FEWEST = 10, 50
BALANCES = (
    "BinaryFocalCrossentropy",
    "CategoricalFocalCrossentropy",
    "WeightedRandomSampler",
    "compute_class_weight",
    "compute_sample_weight",
    "sigmoid_focal_loss",
)
WEIGHTS = ("class_weight", "pos_weight", "sample_weight")
FAULT = Fault(
    code="DA07",
    name="class-imbalance",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE008",
    "class-imbalance",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="Naming only the frequent class already scores well, so the rare one is not learned.",
    severity=Severity.NOTE,
    confidence=0.45,
    judges_rows=True,
)
def class_imbalance(detector: Detector, evidence: Evidence) -> Findings:
    """The most frequent class has more than ten times the rows of the rarest, and nothing is done
    about it.

    SageMaker Debugger (ClassImbalance, ratio 10); He and Garcia, "Learning from Imbalanced Data",
    TKDE 2009.
    """
    labels = evidence.labels
    if labels is None or evidence.task not in (TaskType.BINARY, TaskType.MULTI_CLASS):
        return
    counts = labels.class_counts or ()
    if len(counts) < 2 or sum(counts) < FEWEST or max(counts) <= RATIO * min(counts):
        return
    if _balances(evidence):
        return
    share = max(counts) / sum(counts)
    score = accuracy(evidence)
    stuck = score is not None and abs(score - share) < 0.02
    saw = f"{max(counts)} rows of one class and {min(counts)} of another"
    yield detector.finding(
        evidence,
        saw,
        fixes=weigh_classes(evidence, counts, labels.class_values or ()),
        confidence=0.6 if stuck else None,
    )


def _balances(evidence: Evidence) -> bool:
    """Whether rare classes weigh more, or are drawn more often, or easy rows weigh less."""
    return any(calls(evidence.files, *BALANCES)) or has_keyword(evidence.files, *WEIGHTS)
