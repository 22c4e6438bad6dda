"""TC011 loss-diverges

What
    The loss is at least twice its smallest value in five checks in a row, or is no number.
Why
    Steps that are too large climb out of the valley and do not come back.
Symptom
    The loss falls at first, then grows without end.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=3.0)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    {paper}, divergence, doubling against the minimum in five checks.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.own._places import usual_rates
from reenact.rules.own._series import finite, losses, windows

CHECKS = 5


class LossDiverges(Rule):
    code, name, family, fault = "TC011", "loss-diverges", "deepchecker", Fault.HLR
    needs, severity, confidence, certainty = Needs.TRACE, Severity.ERROR, 0.75, Certainty.STRONG
    why = "Steps that are too large climb out of the valley and do not come back."

    def check(self, evidence: Evidence) -> Findings:
        known = losses(evidence)
        if not known or evidence.optimizers > 1:
            return
        curve, lost = windows(known), len(known) - len(finite(known))
        late = curve[-CHECKS:]
        least = min(curve) if curve else 0.0
        grown = len(curve) > CHECKS and least > 0 and min(late) >= 2 * least and late[-1] > 0.5 * curve[0]
        if (grown and evidence.compares) or lost > len(known) / 4:
            end = "no number" if lost > len(known) / 4 else f"{late[-1]:.3g}"
            saw = f"the loss ends at {end} after {least:.3g} at its best"
            yield self.finding(evidence, saw, kind=Kind.LEARNING_RATE, values=usual_rates(evidence))
