"""DL002 zero-layer-output

What
    A layer gives nothing but zeros in at least half of the steps looked at, five or more. The tool looks
    at every batch, this rule at every sampled step.
Why
    A layer of zeros tells the next one nothing, and lets no gradient through.
Symptom
    The loss stays where a constant prediction puts it.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.constant_(model[0].bias, -100.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.constant_(model[0].bias, -100.0)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Second symptom. The release calls a mean of exactly zero a zero tensor; here the mean of the
    absolute values counts, so that a centred tensor is none.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import behind_weights, first_found, output_rows, zero


class ZeroLayerOutput(Rule):
    code, name, family, fault = "DL002", "zero-layer-output", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "A layer of zeros passes on neither data nor gradient."

    def check(self, evidence: Evidence) -> Findings:
        symptom = ("output all zero", self.confidence, zero(output_rows, "mean_abs"))
        yield from first_found(self, evidence, behind_weights(evidence), symptom)
