"""DD006 loss-not-a-number."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Finding, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_invalid, report
from reenact.rules.measured import invalid_loss


class LossNotANumber(Rule):
    """DD006 loss-not-a-number

    What
        The loss of a training step is NaN or infinite.
    Why
        No gradient comes from it, and the next step spoils all weights.
    Symptom
        The loss is printed as `nan` or `inf`.
    Example
        import keras
        from keras import layers
        from reenact.testing.toys import blobs

        x, y = blobs()
        model = keras.Sequential(
            [
                layers.Dense(16, activation="relu"),
                layers.Dense(3, activation="softmax"),
            ]
        )
        model.compile(keras.optimizers.SGD(1e30), "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, epochs=6, batch_size=50, verbose=0)
    Instead
        import keras
        from keras import layers
        from reenact.testing.toys import blobs

        x, y = blobs()
        model = keras.Sequential(
            [
                layers.Dense(16, activation="relu"),
                layers.Dense(3, activation="softmax"),
            ]
        )
        model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, epochs=6, batch_size=50, verbose=0)
    Fix safety
        Unsafe: whatever the tree suggests makes another training.
    Sources
        Wardat, Cruz, Le and Rajan, "DeepDiagnosis: Automatically Diagnosing Faults and Recommending
        Actionable Fixes in Deep Learning Programs", ICSE 2022. Symptom "invalid loss".
    """

    code, name, family = "DD006", "loss-not-a-number", "deepdiagnosis"
    fault = None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.95
    why = "A loss that is no number gives no gradient."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        step = invalid_loss(evidence)
        if step is not None:
            advice = for_invalid(evidence, step)
            yield report(self, evidence, f"loss NaN or infinite at step {step}", advice, step)
