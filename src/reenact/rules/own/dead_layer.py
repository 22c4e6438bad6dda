"""RE022 dead-layer

What
    Nearly all units of a layer give zero for every row.
Why
    The gradient of a unit that gives zero is zero: it never comes back. A layer of such units lets
    nothing through, and all layers before it stop learning.
Symptom
    The loss stays where guessing would be; gradients of the first layers are exactly zero.
Example
    import keras
    from reenact.testing.toys import blobs

    x, y = blobs(spread=2.0)
    model = keras.Sequential([
        keras.layers.Dense(16, activation="relu", kernel_initializer="zeros"),
        keras.layers.Dense(3, activation="softmax"),
    ])
    model.compile(keras.optimizers.Adam(0.01), "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=10, validation_split=0.2)
Instead
    -     keras.layers.Dense(16, activation="relu", kernel_initializer="zeros"),
    +     keras.layers.Dense(16, activation="relu"),
Fix safety
    Unsafe: another start, activation or learning rate is another training.
Sources
    Lu et al., "Dying ReLU and Initialization", 2020; SageMaker Debugger (DeadRelu).
"""

import statistics
from dataclasses import replace

from reenact.rules import Evidence, Fault, Finding, Findings, Kind, LayerView, Needs, Rule, Severity
from reenact.rules.own._model import owner_of
from reenact.rules.own._places import at_all_layers, at_named, framework, raw_inputs, usual_rates
from reenact.rules.own._series import finite

MOST = 0.95
MANY = 0.8


class DeadLayer(Rule):
    code, name, family, fault = "RE022", "dead-layer", "reenact", Fault.WCI
    needs, severity = Needs.TRACE, Severity.ERROR
    why = "Units that give zero get no gradient and never come back."

    def check(self, evidence: Evidence) -> Findings:
        for layer in evidence.layers:
            shares = finite(list(evidence.watched.layer(layer.name, "dead_unit_share").values))
            if len(shares) < 3 or layer.role == "output" or layer.family == "norm":
                continue
            late = statistics.median(shares[-max(1, len(shares) // 3) :])
            if late >= MANY:
                yield self._dead(evidence, layer, late, from_start=shares[0] >= MANY)
                return

    def _dead(self, evidence: Evidence, layer: LayerView, late: float, *, from_start: bool) -> Finding:
        when = "from the start" if from_start else "in the end"
        saw = f"{late:.0%} of the units give zero for every row, {when}"
        sure = 0.9 if late >= MOST else 0.55
        owner = owner_of(evidence, layer)
        kernel = owner.kernel()
        if raw_inputs(evidence) and (kernel is None or kernel.std != 0):
            finding = self.finding(evidence, saw, layer=owner, fault=Fault.CPP, confidence=sure)
            return at_named(evidence, finding, Kind.PREPROCESSING, "scale", ("standardize", "scale"))
        if not from_start:
            kind, rates = Kind.LEARNING_RATE, usual_rates(evidence)
            finding = self.finding(evidence, saw, layer=owner, kind=kind, values=rates, fault=Fault.HLR)
            return replace(finding, confidence=0.8 * sure)
        bias, keras = owner.bias(), framework(evidence) == "keras"
        kind, fault, start = Kind.WEIGHT_INIT, Fault.WCI, "he_normal" if keras else "kaiming_normal_"
        if bias is not None and bias.mean < -1:
            kind, fault, start = Kind.BIAS_INIT, Fault.BCI, "zeros" if keras else "zeros_"
        finding = self.finding(evidence, saw, layer=owner, kind=kind, values=(start,), fault=fault)
        return at_all_layers(evidence, replace(finding, confidence=sure), kind, (start,))
