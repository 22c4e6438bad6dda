"""RE030 overfits."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Finding, Needs, Rule
from reenact.rules.own._series import accuracy, epoch_losses, metric, optimizers, validation_accuracy

RISE = 1.25
GAP = 0.15


class Overfits(Rule):
    """RE030 overfits

    What
        The model knows the training data far better than held-out data, and becomes worse on the latter.
    Why
        It remembers rows instead of learning what they have in common: too much model for too little data, or
        too long a training.
    Symptom
        Validation loss rises while training loss falls.
    Example
        import keras
        from reenact.testing.toys import blobs

        x, y = blobs(90, features=40, spread=14.0)
        model = keras.Sequential([
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(3, activation="softmax"),
        ])
        model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x[:50], y[:50], epochs=20, validation_data=(x[50:], y[50:]))
    Instead
        - model.fit(x[:50], y[:50], epochs=20, validation_data=(x[50:], y[50:]))
        + model.fit(x[:50], y[:50], epochs=2, validation_data=(x[50:], y[50:]))
    Fix safety
        There is nothing to change here: fewer epochs, dropout, a penalty, more data or a smaller model may
        help.
    Sources
        Prechelt, "Early Stopping, But When?", 1998; SageMaker Debugger (Overfit).
    """

    code, name, family, fault = "RE030", "overfits", "reenact", None
    needs = Needs.TRACE
    confidence = 0.65
    why = "It remembers its rows instead of learning what they have in common."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        if optimizers(evidence) > 1:
            return
        held, trained = metric(evidence, "val_loss"), epoch_losses(evidence)
        if len(held) > 2 and trained and held[-1] > RISE * min(held) and trained[-1] < 0.5 * held[-1]:
            saw = (
                f"validation loss {held[-1]:.3g} after {min(held):.3g} at its best; "
                f"training loss {trained[-1]:.3g}"
            )
            yield self.finding(evidence, saw)
            return
        known, judged = accuracy(evidence), validation_accuracy(evidence)
        if known is not None and len(judged) > 2 and known > 0.9 and known - max(judged) > GAP:
            saw = f"accuracy {known:.2f} in training, {max(judged):.2f} at best in validation"
            yield self.finding(evidence, saw)
