"""TC001 constant-feature

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
    {paper}, pre-training checks of the data.
"""

from reenact.rules import Evidence, Fault, Findings, Needs, Rule, Severity


class ConstantFeature(Rule):
    code, name, family, fault = "TC001", "constant-feature", "deepchecker", Fault.CPP
    needs, severity, confidence = Needs.GRAPH, Severity.NOTE, 0.35
    why = "What never changes tells nothing, and scaling it divides by zero."

    def check(self, evidence: Evidence) -> Findings:
        inputs = evidence.inputs
        if inputs is None or not inputs.constant_features or inputs.rows_seen < 20:
            return
        picture = len(inputs.shape) > 2 or (inputs.shape[-1] or 0) > 200
        saw = f"{inputs.constant_features} constant columns in {inputs.rows_seen} rows of inputs"
        yield self.finding(evidence, saw, confidence=0.1 if picture else None)
