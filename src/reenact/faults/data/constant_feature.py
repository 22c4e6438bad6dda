"""DA06 constant-feature

What
    A column of the inputs has the same value in every row.
Why
    It tells nothing about any label; dividing by its deviation, as standardising does, makes NaN.
    Pictures have such pixels at their edges, and are reported with low confidence.
Symptom
    None, or NaN after scaling.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    x[:, 0] = 1.0
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - x[:, 0] = 1.0
Fix safety
    Unsafe: the model becomes narrower, and data must be prepared alike wherever it is used.
Sources
    Ben Braiek and Khomh, "TheDeepChecker", TOSEM 2022, pre-training checks of the data.
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Needs,
    Observes,
    Severity,
)

FAULT = Fault(
    code="DA06",
    name="constant-feature",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "TC001",
    "constant-feature",
    "deepchecker",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="What never changes tells nothing, and scaling it divides by zero.",
    study=FaultType.CPP,
    severity=Severity.NOTE,
    confidence=0.35,
)
def constant_feature(detector: Detector, evidence: Evidence) -> Findings:
    """A column of the inputs has the same value in every row.

    {paper}, pre-training checks of the data.
    """
    inputs = evidence.inputs
    if inputs is None or not inputs.constant_features or inputs.rows_seen < 20:
        return
    picture = len(inputs.shape) > 2 or (inputs.shape[-1] or 0) > 200
    saw = f"{inputs.constant_features} constant columns in {inputs.rows_seen} rows of inputs"
    yield detector.finding(
        evidence,
        saw,
        confidence=0.1 if picture else None,
    )
