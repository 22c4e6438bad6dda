"""DL004 broken-weights

What
    The weights of a layer hold NaN or infinite values, or are all zero in at least half of the steps
    looked at. The tool looks at every batch, this rule at every sampled step.
Why
    A weight that is no number cannot become one again; weights that stay zero learn nothing.
Symptom
    The loss is NaN, or does not move.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    for weights in model.parameters():
        nn.init.zeros_(weights)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - for weights in model.parameters():
    -     nn.init.zeros_(weights)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Fourth symptom, layers from back to front. Zero means that all weights are, not that their mean
    is.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import bad, first_found, kernel_rows, zero


class BrokenWeights(Rule):
    code, name, family, fault = "DL004", "broken-weights", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.95
    why = "Weights that are no numbers, or stay zero, learn nothing."

    def check(self, evidence: Evidence) -> Findings:
        wrong = ("weights NaN or infinite", self.confidence, bad(kernel_rows, "weight_bad_share"))
        empty = ("weights all zero", 0.8, zero(kernel_rows, "weight_mean_abs"))
        yield from first_found(self, evidence, reversed(evidence.weighted), wrong, empty)
