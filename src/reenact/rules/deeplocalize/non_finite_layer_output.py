"""DL001 non-finite-layer-output

What
    The output of a layer holds NaN or infinite values in a training step. The tool looks at every batch,
    this rule at every sampled step.
Why
    Such a value spreads to everything behind it, to the loss and to all weights.
Symptom
    The loss is NaN, or the predictions are.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=100.0)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=100.0)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. First symptom of its algorithm; the release tests the mean of the tensor, which is bad when one
    value is.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import bad, first_found, output_rows


class NonFiniteLayerOutput(Rule):
    code, name, family, fault = "DL001", "non-finite-layer-output", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.95
    why = "A value that is no number spreads to the loss and to all weights."

    def check(self, evidence: Evidence) -> Findings:
        symptom = ("output NaN or infinite", self.confidence, bad(output_rows, "bad_share"))
        yield from first_found(self, evidence, evidence.layers, symptom)
