"""TC005 update-too-fast

What
    A step changes the weights by more than a tenth of their size, step after step.
Why
    Weights that change that much forget what they were; the loss jumps about.
Symptom
    A loss that swings or grows.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - optimizer = torch.optim.SGD(model.parameters(), lr=1.0, momentum=0.9)
    + optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
Fix safety
    Unsafe: another learning rate is another training.
Sources
    {paper}, ratio of updates to weights, above 10^-1. Weight matrices only: biases start at zero.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.deepchecker._ratios import ratios
from reenact.rules.own._places import optimizer_name, usual_rates

LARGEST = -1.0


class UpdateTooFast(Rule):
    code, name, family, fault = "TC005", "update-too-fast", "deepchecker", Fault.HLR
    needs, confidence = Needs.TRACE, 0.5
    why = "Weights that change by a tenth in one step forget what they were."

    def check(self, evidence: Evidence) -> Findings:
        found = ratios(evidence) if optimizer_name(evidence) != "lbfgs" else {}
        fast = {name: ratio for name, ratio in found.items() if ratio > LARGEST}
        if 2 * len(fast) > len(found):
            name, ratio = max(fast.items(), key=lambda item: item[1])
            share = f"{len(fast)} of {len(found)} tensors"
            saw = f"{name} changes by {10**ratio:.2g} of its size in a step ({share})"
            yield self.finding(evidence, saw, kind=Kind.LEARNING_RATE, values=usual_rates(evidence))
