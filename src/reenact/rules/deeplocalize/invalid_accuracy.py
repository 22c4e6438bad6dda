"""DL008 invalid-accuracy

What
    The accuracy that the program computes is NaN or infinite.
Why
    A share of zero cases is no number; whoever watches it learns nothing of the training.
Symptom
    The accuracy is printed as `nan`.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)


    def accuracy(labels, output):
        third = keras.ops.cast(keras.ops.reshape(labels, -1) == 3, "float32")
        return keras.ops.sum(third * output[:, 2]) / keras.ops.sum(third)


    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=[accuracy])
    model.fit(x, y, epochs=10)
Instead
    -     third = keras.ops.cast(keras.ops.reshape(labels, -1) == 3, "float32")
    +     third = keras.ops.cast(keras.ops.reshape(labels, -1) == 2, "float32")
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Eighth symptom; the release reads the log entry `acc` alone.
"""

import math

from reenact.rules import Evidence, Findings, Needs, Rule

ACCURACIES = ("accuracy", "val_accuracy", "test_accuracy")


class InvalidAccuracy(Rule):
    code, name, family, fault = "DL008", "invalid-accuracy", "deeplocalize", None
    needs, confidence = Needs.TRACE, 0.8
    why = "An accuracy that is no number says nothing about the training."

    def check(self, evidence: Evidence) -> Findings:
        for metric in evidence.watched.metrics:
            if metric.name in ACCURACIES and not math.isfinite(metric.value):
                saw = f"{metric.name} {metric.value} after {metric.step} steps"
                yield self.finding(evidence, saw, step=metric.step)
                return
