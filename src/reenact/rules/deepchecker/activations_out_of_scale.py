"""TC008 activations-out-of-scale

What
    The outputs of a hidden activation have a deviation outside 0.5 to 2.
Why
    Signals that grow or shrink from layer to layer end in saturation or in nothing. Healthy models leave
    these bounds often, so the rule is only asked by name.
Symptom
    Gradients that grow or shrink from layer to layer.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    start = keras.initializers.RandomNormal(stddev=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu", kernel_initializer=start),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    - start = keras.initializers.RandomNormal(stddev=2.0)
    + start = "he_normal"
Fix safety
    Unsafe: another start or a normalisation is another training.
Sources
    {paper}, scale of activations, bounds 0.5 and 2. The paper tests variances; here the median over the run
    is compared.
"""

import statistics

from reenact.rules import Evidence, Findings, Needs, Rule, Severity, Status
from reenact.rules.own._series import finite

LOW, HIGH = 0.3, 2.0
"""The lower bound is that of half a unit after relu has cut the signal."""


class ActivationsOutOfScale(Rule):
    code, name, family, fault = "TC008", "activations-out-of-scale", "deepchecker", None
    needs, severity, status, confidence = Needs.TRACE, Severity.NOTE, Status.PREVIEW, 0.15
    why = "Signals that grow or shrink from layer to layer saturate or vanish."

    def check(self, evidence: Evidence) -> Findings:
        for layer in evidence.layers:
            if not layer.own_activation or layer.role == "output" or layer is evidence.output_activation:
                continue
            spreads = finite(list(evidence.watched.layer(layer.name, "std").values))
            middle = statistics.median(spreads) if spreads else 1.0
            if not LOW <= middle <= HIGH:
                saw = f"the outputs of {layer.name} have deviation {middle:.3g}"
                yield self.finding(evidence, saw, layer=layer)
