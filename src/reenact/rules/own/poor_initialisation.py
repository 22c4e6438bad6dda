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

from collections.abc import Iterable, Iterator

from reenact.rules import Evidence, Fault, Findings, JsonValue, Kind, LayerView, Needs, Rule
from reenact.rules.finding import Certainty, Finding, Severity
from reenact.rules.measured import zero_start
from reenact.rules.own._model import times_usual
from reenact.rules.own._places import at_hyperparameter, framework
from reenact.rules.own._series import learned

FAR = 3.0
TINY = 0.1
LARGE_BIAS = 0.5


class PoorInitialisation(Rule):
    code, name, family, fault = "RE024", "poor-initialisation", "reenact", Fault.WCI
    needs = Needs.GRAPH
    severity = Severity.ERROR
    confidence = 0.8
    certainty = Certainty.HINT
    why = "Equal weights stay equal; too large ones saturate and too small ones let the signal vanish."

    def check(self, evidence: Evidence) -> Findings:
        doubt = 0.5 if learned(evidence) else 1.0
        yield from self._together(evidence, self._starts(evidence, doubt))
        for layer in evidence.weighted:
            bias = layer.bias()
            if layer.kernel() is None or layer.family in ("embedding", "recurrent"):
                continue
            if bias is not None and bias.std == 0 and abs(bias.mean) >= LARGE_BIAS and layer.role == "hidden":
                yield self._bias(evidence, layer, bias.mean, doubt)

    def _starts(self, evidence: Evidence, doubt: float) -> Iterator[tuple[LayerView, str, float]]:
        """Layers whose weights start in an unusual way, what is unusual, and how sure it is a fault."""
        for layer in evidence.weighted:
            kernel = layer.kernel()
            if kernel is None or layer.family in ("embedding", "recurrent"):
                continue
            times = times_usual(layer, framework(evidence))
            if kernel.std == 0 and len(kernel.shape) > 1 and max(kernel.shape) > 1:
                harm = zero_start(evidence, layer) if kernel.mean == 0 else 1.0
                if harm:
                    yield layer, f"all weights start at {kernel.mean:g}", 0.97 * harm
            elif times is not None and times > FAR:
                saw = f"weights start with deviation {kernel.std:.3g}, {times:.1f} times the usual"
                yield layer, saw, self.confidence * doubt
            elif times is not None and times < TINY:
                saw = f"weights start with deviation {kernel.std:.3g}, 1/{1 / times:.0f} of the usual"
                # On purpose at heads of policies and residual branches.
                yield layer, saw, 0.5 * doubt

    def _together(self, evidence: Evidence, starts: Iterable[tuple[LayerView, str, float]]) -> Findings:
        """One finding for all layers that one line of the text gives their start."""
        params = evidence.hyperparameters_of(Kind.WEIGHT_INIT)
        of_all = [param for param in params if not param.id.layer and not param.absent]
        found = list(starts)
        if len(found) > 1 and len(of_all) == 1:
            layer, saw, sure = max(found, key=lambda start: start[2])
            finding = self.finding(
                evidence, f"{saw}, in layer {layer.name} and {len(found) - 1} more", confidence=sure
            )
            yield at_hyperparameter(finding, of_all[0], _usual(layer, framework(evidence)))
            return
        for layer, saw, sure in found:
            kind, values = Kind.WEIGHT_INIT, _usual(layer, framework(evidence))
            yield self.finding(evidence, saw, layer=layer, kind=kind, values=values, confidence=sure)

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
