"""DL006 invalid-loss

What
    The loss of a training step is NaN or infinite.
Why
    No gradient comes from a loss that is no number; the next step spoils all weights.
Symptom
    The loss is printed as `nan` or `inf`.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    counts = (5 * (y - y.min())).round()
    y = torch.log(counts)
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - y = torch.log(counts)
    + y = torch.log1p(counts)
Fix safety
    None is offered: the tool names the layer and the phase, not a cause.
Sources
    {paper}. Sixth symptom.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.measured import invalid_loss


class InvalidLoss(Rule):
    code, name, family, fault = "DL006", "invalid-loss", "deeplocalize", None
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.97
    why = "A loss that is no number gives no gradient."

    def check(self, evidence: Evidence) -> Findings:
        step = invalid_loss(evidence)
        if step is not None:
            yield self.finding(evidence, f"loss NaN or infinite at step {step}", step=step)
