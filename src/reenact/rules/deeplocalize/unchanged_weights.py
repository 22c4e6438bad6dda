"""DL005 unchanged-weights

What
    The weights of a layer have the same mean, deviation and largest value in the last five steps looked
    at, or more, and the loss has not fallen to half. The tool looks at every batch, this rule at every
    sampled step.
Why
    Weights that do not move do not learn: the learning rate is too small, no gradient arrives, or the
    optimiser was not given them.
Symptom
    The loss stays where it began.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Fifth symptom. The release looks at layers named `dense` and at means alone; here at every layer
    with weights to learn. Frozen layers do not count.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import first_found, kernel_rows, learned, still


class UnchangedWeights(Rule):
    code, name, family, fault = "DL005", "unchanged-weights", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.85
    why = "Weights that do not move do not learn."

    def check(self, evidence: Evidence) -> Findings:
        if not learned(evidence):
            symptom = ("weights unchanged", self.confidence, still(kernel_rows, "weights"))
            yield from first_found(self, evidence, reversed(evidence.weighted), symptom)
