"""RE024 poor-initialisation

What
    Weights that start all equal, or many times larger or smaller than the size of the layer asks for.
Why
    Equal weights get equal gradients and stay equal: a layer of one unit. Too large weights saturate or
    explode, too small ones let the signal vanish on its way.
Symptom
    No progress from the first step on, a first loss far above that of guessing, or gradients that shrink
    from layer to layer.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.constant_(model[0].weight, 0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.constant_(model[0].weight, 0.5)
Fix safety
    Unsafe: another start is another training.
Sources
    Glorot and Bengio, AISTATS 2010; He et al., "Delving Deep into Rectifiers", ICCV 2015; Schoenholz et
    al., "Deep Information Propagation", ICLR 2017.
"""

from reenact.rules import Evidence, Fault, Findings, JsonValue, Kind, LayerView, Needs, Rule
from reenact.rules.finding import Certainty, Finding, Severity
from reenact.rules.own._model import times_usual
from reenact.rules.own._places import framework
from reenact.rules.own._series import learned

FAR = 3.0
TINY = 0.1
LARGE_BIAS = 0.5


class PoorInitialisation(Rule):
    code, name, family, fault = "RE024", "poor-initialisation", "reenact", Fault.WCI
    needs = Needs.GRAPH
    severity = Severity.ERROR
    confidence = 0.8
    certainty = Certainty.STRONG
    why = "Equal weights stay equal; too large ones saturate and too small ones let the signal vanish."

    def check(self, evidence: Evidence) -> Findings:
        doubt = 0.5 if learned(evidence) else 1.0
        for layer in evidence.weighted:
            kernel, bias = layer.kernel(), layer.bias()
            if kernel is None or layer.family in ("embedding", "recurrent"):
                continue
            times = times_usual(layer, framework(evidence))
            if kernel.std == 0 and len(kernel.shape) > 1 and max(kernel.shape) > 1:
                saw = f"all weights start at {kernel.mean:g}"
                yield self._start(evidence, layer, saw, 0.97)
            elif times is not None and times > FAR:
                saw = f"weights start with deviation {kernel.std:.3g}, {times:.1f} times the usual"
                yield self._start(evidence, layer, saw, self.confidence * doubt)
            elif times is not None and times < TINY:
                saw = f"weights start with deviation {kernel.std:.3g}, 1/{1 / times:.0f} of the usual"
                # On purpose at heads of policies and residual branches.
                yield self._start(evidence, layer, saw, 0.5 * doubt)
            if bias is not None and bias.std == 0 and abs(bias.mean) >= LARGE_BIAS and layer.role == "hidden":
                yield self._bias(evidence, layer, bias.mean, doubt)

    def _start(self, evidence: Evidence, layer: LayerView, saw: str, sure: float) -> Finding:
        values = _usual(layer, framework(evidence))
        return self.finding(evidence, saw, layer=layer, kind=Kind.WEIGHT_INIT, values=values, confidence=sure)

    def _bias(self, evidence: Evidence, layer: LayerView, value: float, doubt: float) -> Finding:
        return self.finding(
            evidence,
            f"all biases start at {value:g}",
            layer=layer,
            kind=Kind.BIAS_INIT,
            values=("zeros",) if framework(evidence) == "keras" else ("zeros_",),
            fault=Fault.BCI,
            confidence=(0.8 if abs(value) > 5 else 0.5) * doubt,
        )


def _usual(layer: LayerView, library: str) -> tuple[JsonValue, ...]:
    relu = layer.activation in ("relu", "leaky_relu", "elu", "gelu", "silu")
    if library == "keras":
        return ("he_normal", "glorot_uniform") if relu else ("glorot_uniform", "he_normal")
    return ("kaiming_uniform_", "xavier_uniform_") if relu else ("xavier_uniform_", "kaiming_uniform_")
