"""TC013 over-regularised

What
    Weights under a penalty or decay shrink to a fraction of their start.
Why
    The penalty outweighs the data: the smallest loss is that of a model without weights.
Symptom
    Weights go to zero, predictions become constant.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1.0)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=1.0)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.0001)
Fix safety
    Unsafe: another penalty is another training.
Sources
    {paper}, gradient of the penalty at least twice that of the data in five checks. The two gradients are not
    recorded apart; what they lead to is: a norm below a fifth of the first.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, LayerView, Needs, Rule
from reenact.rules.own._series import finite

LEFT = 0.2


class OverRegularised(Rule):
    code, name, family, fault = "TC013", "over-regularised", "deepchecker", Fault.RAW
    needs, confidence = Needs.TRACE, 0.75
    why = "A penalty that outweighs the data leads to a model without weights."

    def check(self, evidence: Evidence) -> Findings:
        decay = evidence.optimizer.settings.get("weight_decay") if evidence.optimizer is not None else None
        for layer in evidence.weighted:
            penalised = bool(layer.settings.get("kernel_regularizer"))
            if not penalised and not decay:
                continue
            left = _left(evidence, layer)
            saw = f"the weights shrink to {left:.0%} of their start" if left < LEFT else ""
            if saw and penalised:
                yield self.finding(evidence, saw, layer=layer, kind=Kind.WEIGHT_REGULARIZER, values=(None,))
            elif saw:
                values = (0.0001, 0.0)
                yield self.finding(evidence, saw, kind=Kind.WEIGHT_DECAY, values=values, fault=Fault.HWD)


def _left(evidence: Evidence, layer: LayerView) -> float:
    """Last norm of the kernel against the first that was seen; 1 where nobody knows."""
    kernel = layer.kernel()
    path = kernel.path if kernel is not None else ""
    norms = finite(list(evidence.watched.parameter(path, "weight_norm").values))
    return norms[-1] / norms[0] if len(norms) > 3 and norms[0] > 0 else 1.0
