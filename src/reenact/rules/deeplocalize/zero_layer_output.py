"""DL002 zero-layer-output."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Finding, LayerView, Needs, Rule, Severity
from reenact.rules.hits import WINDOW, behind_weights, first_hit
from reenact.rules.measured import mostly_zero_since, output_rows


class ZeroLayerOutput(Rule):
    """DL002 zero-layer-output

    What
        A layer gives nothing but zeros in at least half of the steps looked at, five or more. The tool looks
        at every batch, this rule at every sampled step.
    Why
        A layer of zeros tells the next one nothing, and lets no gradient through.
    Symptom
        The loss stays where a constant prediction puts it.
    Example
        import keras
        from keras import layers
        from reenact.testing.toys import blobs

        x, y = blobs()
        sunk = keras.initializers.Constant(-100.0)
        model = keras.Sequential(
            [
                layers.Dense(16, activation="relu", bias_initializer=sunk),
                layers.Dense(3, activation="softmax"),
            ]
        )
        model.compile(keras.optimizers.SGD(0.1), "sparse_categorical_crossentropy", metrics=["accuracy"])
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
        Wardat, Le and Rajan, "DeepLocalize: Fault Localization for Deep Neural Networks", ICSE 2021. Second
        symptom. The release calls a mean of exactly zero a zero tensor; here the mean of the absolute values
        counts, so that a centred tensor is none.
    """

    code, name, family = "DL002", "zero-layer-output", "deeplocalize"
    fault = None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.85
    why = "A layer of zeros passes on neither data nor gradient."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        def empty(layer: LayerView) -> int | None:
            return mostly_zero_since(output_rows(evidence, layer), "mean_abs", WINDOW)

        hit = first_hit(behind_weights(evidence), [("output all zero", self.confidence, empty)])
        if hit is not None:
            yield self.finding(evidence, hit.saw, layer=hit.layer, step=hit.step)
