"""RE023 saturated-layer

What
    Most outputs of a hidden sigmoid or tanh layer lie at the ends of its range.
Why
    At the ends the function is flat and its gradient nearly zero: neither the layer nor those before it
    learn.
Symptom
    The loss falls slowly or not at all, and gradients are far smaller in front of the layer than behind
    it.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
    nn.init.normal_(model[0].weight, std=5.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.normal_(model[0].weight, std=5.0)
Fix safety
    Unsafe: another activation, start or scaling is another training.
Sources
    Glorot and Bengio, "Understanding the Difficulty of Training Deep Feedforward Neural Networks",
    AISTATS 2010.
"""

import statistics

from reenact.rules import Evidence, Fault, Finding, Findings, Kind, LayerView, Needs, Rule
from reenact.rules.own._model import owner_of, times_usual
from reenact.rules.own._places import framework, raw_inputs
from reenact.rules.own._series import finite

MOST = 0.5


class SaturatedLayer(Rule):
    code, name, family, fault = "RE023", "saturated-layer", "reenact", Fault.ACH
    needs, confidence = Needs.TRACE, 0.65
    why = "At the ends of its range a sigmoid or tanh is flat and passes no gradient."

    def check(self, evidence: Evidence) -> Findings:
        for layer in evidence.layers:
            shares = finite(list(evidence.watched.layer(layer.name, "saturated_share").values))
            if len(shares) < 3 or evidence.last_activation == layer.own_activation == "sigmoid":
                continue
            late = statistics.median(shares[-max(1, len(shares) // 3) :])
            if late > MOST and owner_of(evidence, layer).role == "hidden":
                yield self._saturated(evidence, owner_of(evidence, layer), late)
                return

    def _saturated(self, evidence: Evidence, layer: LayerView, late: float) -> Finding:
        saw = f"{late:.0%} of what goes into {layer.activation or 'the activation'} lies beyond 5"
        if raw_inputs(evidence) and layer is next(iter(evidence.weighted), None):
            return self.finding(evidence, saw, layer=layer, kind=Kind.PREPROCESSING, fault=Fault.CPP)
        if (times_usual(layer, framework(evidence)) or 1.0) > 3:
            kind, keras = Kind.WEIGHT_INIT, framework(evidence) == "keras"
            start = "glorot_uniform" if keras else "xavier_uniform_"
            return self.finding(evidence, saw, layer=layer, kind=kind, values=(start,), fault=Fault.WCI)
        return self.finding(evidence, saw, layer=layer, kind=Kind.ACTIVATION, values=("relu",))
