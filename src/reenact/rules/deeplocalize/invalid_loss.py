"""DL006 invalid-loss."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Finding, Needs, Rule, Severity
from reenact.rules.measured import invalid_loss


class InvalidLoss(Rule):
    """DL006 invalid-loss

    What
        The loss of a training step is NaN or infinite.
    Why
        No gradient comes from a loss that is no number; the next step spoils all weights.
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
        None is offered: the tool names the layer and the phase, not a cause.
    Sources
        Wardat, Le and Rajan, "DeepLocalize: Fault Localization for Deep Neural Networks", ICSE 2021. Sixth
        symptom.
    """

    code, name, family = "DL006", "invalid-loss", "deeplocalize"
    fault = None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.97
    why = "A loss that is no number gives no gradient."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        step = invalid_loss(evidence)
        if step is not None:
            yield self.finding(evidence, f"loss NaN or infinite at step {step}", step=step)
