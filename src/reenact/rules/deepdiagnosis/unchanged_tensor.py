"""DD005 unchanged-tensor

What
    The output, the weights or the weight gradient of a layer are the same at the ends of the last five
    epochs, or more, and the loss has not fallen to half.
Why
    Nothing that stands still learns.
Symptom
    Loss and predictions are the same after every epoch.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.SGD(1e-12), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - model.compile(keras.optimizers.SGD(1e-12), "sparse_categorical_crossentropy", metrics=["accuracy"])
    + model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "unchanged tensor". The release compares means alone, and any five epochs.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_stillness, other_activation, report
from reenact.rules.measured import behind_weights, ends, first_hit, kernel_rows, learned, output_rows, still


class UnchangedTensor(Rule):
    code, name, family, fault = "DD005", "unchanged-tensor", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "Nothing that stands still learns."

    def check(self, evidence: Evidence) -> Findings:
        if learned(evidence):
            return
        output = ("output unchanged", self.confidence, still(ends(output_rows), "output"))
        forward = first_hit(evidence, behind_weights(evidence), output)
        if forward is not None and forward.layer.role == "output":
            yield report(self, evidence, forward.saw, other_activation(evidence, forward.layer), forward.step)
            return
        weights = ("weights unchanged", 0.85, still(ends(kernel_rows), "weights"))
        gradient = ("weight gradient unchanged", 0.85, still(ends(kernel_rows), "gradient"))
        hit = forward or first_hit(evidence, reversed(evidence.weighted), weights, gradient)
        if hit is not None:
            yield report(self, evidence, hit.saw, for_stillness(evidence, hit.step), hit.step)
