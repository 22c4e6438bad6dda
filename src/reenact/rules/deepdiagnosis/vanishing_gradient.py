"""DD010 vanishing-gradient

What
    The gradient of a layer's weights is below 1e-7 on average, in half of the steps looked at or more,
    and the loss has not fallen to half. The tool looks at the end of every epoch on one batch, this rule
    at the sampled steps.
Why
    Each layer multiplies the gradient by the slope of its activation; many flat ones leave nothing for
    the first layers.
Symptom
    The loss falls very slowly or not at all; the last layers move, the first do not.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    hidden = (nn.Sequential(nn.Linear(8, 8), nn.Sigmoid()) for _ in range(16))
    model = nn.Sequential(*hidden, nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - hidden = (nn.Sequential(nn.Linear(8, 8), nn.Sigmoid()) for _ in range(16))
    + hidden = (nn.Sequential(nn.Linear(8, 8), nn.Sigmoid()) for _ in range(2))
Fix safety
    Unsafe: whatever the tree suggests makes another training.
Sources
    {paper}. Symptom "vanishing gradient", layers from back to front. The release looks at layers named
    `dense`; here embeddings are left out, whose gradient is mostly zero by nature.
"""

from reenact.rules import Evidence, Findings, LayerView, Needs, Rule, Severity
from reenact.rules.deepdiagnosis._advice import for_vanishing, report
from reenact.rules.measured import first_hit, kernel_rows, learned

SMALLEST = 1e-7


class VanishingGradient(Rule):
    code, name, family, fault = "DD010", "vanishing-gradient", "deepdiagnosis", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.75
    why = "Layers that no gradient reaches do not learn."

    def check(self, evidence: Evidence) -> Findings:
        if learned(evidence):
            return

        def faint(at: Evidence, layer: LayerView) -> int | None:
            rows = kernel_rows(at, layer)
            weak = rows["grad_mean_abs"] < SMALLEST
            return int(rows["step"][weak.argmax()]) if len(rows) and 2 * weak.sum() >= len(rows) else None

        layers = [layer for layer in reversed(evidence.weighted) if layer.family != "embedding"]
        symptom = (f"mean weight gradient below {SMALLEST:g}", self.confidence, faint)
        hit = first_hit(evidence, layers, symptom)
        if hit is not None:
            yield report(self, evidence, hit.saw, for_vanishing(evidence, hit.layer), hit.step)
