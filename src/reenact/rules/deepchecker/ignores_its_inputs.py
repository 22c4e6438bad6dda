"""TC004 ignores-its-inputs."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from reenact.rules import Evidence, Finding, Needs, Rule, Severity
from reenact.rules.own._series import finite

LATE = 20
WORSE = 1.05


class IgnoresItsInputs(Rule):
    """TC004 ignores-its-inputs

    What
        The model learns a batch just as well when all its inputs are zero.
    Why
        What is learned then does not depend on the inputs: the signal is lost on its way, or only the biases
        move.
    Symptom
        Predictions are the same for every row.
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
        2022, fitting a batch with zeroed inputs. The paper compares the last hundred losses by a rank test;
        here their medians are.
    """

    code, name, family, fault = "TC004", "ignores-its-inputs", "deepchecker", None
    needs = Needs.EXPERIMENTS
    severity = Severity.ERROR
    confidence = 0.8
    why = "What is learned does not depend on what is asked."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        tried = evidence.experiments.one_batch
        if tried is None:
            return
        seen, blind = finite(list(tried.losses[-LATE:])), finite(list(tried.zeroed_losses[-LATE:]))
        if len(seen) < LATE // 2 or len(blind) < LATE // 2:
            return
        with_inputs, without = statistics.median(seen), statistics.median(blind)
        if without <= WORSE * with_inputs and with_inputs > 1e-3:
            saw = f"loss {with_inputs:.3g} on one batch, {without:.3g} with its inputs set to zero"
            yield self.finding(evidence, saw)
