"""TC006 update-too-slow

What
    A step changes the weights by less than a ten-thousandth of their size, step after step.
Why
    At that pace weights stay near their random start however long the training.
Symptom
    A loss that hardly moves.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    {paper}, ratio of updates to weights, below 10^-4. At the end of a good training steps are small too: the
    first half of the run is looked at.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.deepchecker._ratios import ratios
from reenact.rules.own._places import usual_rates
from reenact.rules.own._series import learned

SMALLEST = -4.0


class UpdateTooSlow(Rule):
    code, name, family, fault = "TC006", "update-too-slow", "deepchecker", Fault.HLR
    needs, confidence = Needs.TRACE, 0.5
    why = "At that pace weights stay near their random start."

    def check(self, evidence: Evidence) -> Findings:
        found = ratios(evidence)
        slow = {name: ratio for name, ratio in found.items() if ratio < SMALLEST}
        if not slow or len(slow) < 0.5 * len(found) or learned(evidence):
            return
        name, ratio = min(slow.items(), key=lambda item: item[1])
        saw = f"{name} changes by {10**ratio:.1g} of its size in a step ({len(slow)} of {len(found)} tensors)"
        yield self.finding(evidence, saw, kind=Kind.LEARNING_RATE, values=usual_rates(evidence))
