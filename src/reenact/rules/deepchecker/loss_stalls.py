"""TC010 loss-stalls

What
    From the beginning on, the loss falls by less than five percent between any two checks.
Why
    Nothing is learned: steps are too small, gradients do not arrive, or the model cannot do better.
Symptom
    A flat loss curve at a high value.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    {paper}, non-decreasing loss, five percent in five checks. A loss that has become small may rest: only
    runs that never fell are reported.
"""

from itertools import pairwise

from reenact.rules import Evidence, Findings, Needs, Rule
from reenact.rules.own._series import learned, losses, windows

CHECKS, FALL = 6, 0.05


class LossStalls(Rule):
    code, name, family, fault = "TC010", "loss-stalls", "deepchecker", None
    needs, confidence = Needs.TRACE, 0.5
    why = "A loss that never falls means that nothing is learned."

    def check(self, evidence: Evidence) -> Findings:
        curve = windows(losses(evidence), CHECKS)
        if len(curve) < CHECKS or evidence.optimizers > 1 or learned(evidence) or curve[0] <= 0:
            return
        falls = [(before - after) / abs(before) for before, after in pairwise(curve) if before]
        if falls and max(falls) < FALL and curve[-1] > 0.8 * curve[0]:
            saw = f"loss {curve[0]:.3g} in the beginning and {curve[-1]:.3g} in the end"
            yield self.finding(evidence, saw)
