"""DL011 broken-output-gradient

What
    The gradient that comes back to a layer's output holds NaN or infinite values; or is zero in at least
    half of the steps looked at; or is the same in the last five. The last two count only while the loss
    has not fallen to half. The tool looks at every batch, this rule at every sampled step.
Why
    What does not come back to a layer does not reach those before it.
Symptom
    The loss is NaN, or does not move.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x).round(), y).backward()
        optimizer.step()
Instead
    -     nn.functional.mse_loss(model(x).round(), y).backward()
    +     nn.functional.mse_loss(model(x), y).backward()
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Eleventh symptom, layers from back to front. That it is the same is not asked of the output
    layer: absolute errors and critics of adversarial networks have a constant gradient there.
"""

from reenact.rules import Evidence, Findings, LayerView, Needs, Rule, Severity
from reenact.rules.measured import bad, behind_weights, first_found, learned, output_rows, still_since, zero


class BrokenOutputGradient(Rule):
    code, name, family, fault = "DL011", "broken-output-gradient", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.95
    why = "What does not come back to a layer does not reach those before it."

    def check(self, evidence: Evidence) -> Findings:
        inner = behind_weights(evidence)
        if evidence.output in inner:
            inner = inner[: inner.index(evidence.output)]

        def still(at: Evidence, layer: LayerView) -> int | None:
            columns = ("grad_mean", "grad_mean_abs")
            return still_since(output_rows(at, layer), columns) if layer in inner else None

        symptoms = [("output gradient NaN or infinite", self.confidence, bad(output_rows, "grad_bad_share"))]
        if not learned(evidence):
            symptoms.append(("output gradient zero", 0.8, zero(output_rows, "grad_mean_abs")))
            symptoms.append(("output gradient unchanged", 0.6, still))
        yield from first_found(self, evidence, reversed(evidence.layers), *symptoms)
