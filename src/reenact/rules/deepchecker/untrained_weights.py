"""TC007 untrained-weights."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Finding, Needs, Rule
from reenact.rules.deepchecker._ratios import unmoved


class UntrainedWeights(Rule):
    """TC007 untrained-weights

    What
        Weights that can learn never change.
    Why
        No gradient reaches them, or no optimiser has them: they keep their random start.
    Symptom
        The layer does the same before and after training.
    Example
        import keras
        from keras import layers
        from reenact.testing.toys import moons

        x, y = moons()
        model = keras.Sequential([
            layers.Input((2,)),
            layers.Dense(16, activation="relu", kernel_initializer="zeros"),
            layers.Dense(8, activation="relu", kernel_regularizer=keras.regularizers.L2(0.5)),
            layers.Dense(1, activation="sigmoid"),
        ])
        model.compile(keras.optimizers.Adam(0.01), "binary_crossentropy", metrics=["accuracy"])
        model.fit(x, y, batch_size=16, epochs=6, verbose=0)
    Instead
        import keras
        from keras import layers
        from reenact.testing.toys import blobs

        x, y = blobs(spread=2.0)
        model = keras.Sequential([
            layers.Input((8,)),
            layers.Dense(16, activation="relu"),
            layers.Dense(3, activation="softmax"),
        ])
        model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
        model.fit(x, y, batch_size=16, epochs=12, validation_split=0.2, verbose=0)
    Fix safety
        There is nothing to change here: look for the finding that explains it.
    Sources
        Ben Braiek and Khomh, "Testing Feedforward Neural Networks Training Programs" (TheDeepChecker), TOSEM
        2022, ratio of updates to weights, exactly zero.
    """

    code, name, family, fault = "TC007", "untrained-weights", "deepchecker", None
    needs = Needs.TRACE
    confidence = 0.75
    why = "They keep their random start."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        names = unmoved(evidence)
        if names:
            yield self.finding(evidence, f"{', '.join(names[:4])} never changed")
