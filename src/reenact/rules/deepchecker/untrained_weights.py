"""TC007 untrained-weights

What
    Weights that can learn never change.
Why
    No gradient reaches them, or no optimiser has them: they keep their random start.
Symptom
    The layer does the same before and after training.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    body, head = nn.Linear(8, 16), nn.Linear(16, 3)
    optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        hidden = body(x).relu().detach()
        nn.functional.cross_entropy(head(hidden), y).backward()
        optimizer.step()
Instead
    -     hidden = body(x).relu().detach()
    +     hidden = body(x).relu()
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    {paper}, ratio of updates to weights, exactly zero.
"""

from reenact.rules import Evidence, Findings, Needs, Rule
from reenact.rules.deepchecker._ratios import unmoved


class UntrainedWeights(Rule):
    code, name, family, fault = "TC007", "untrained-weights", "deepchecker", None
    needs, confidence = Needs.TRACE, 0.75
    why = "They keep their random start."

    def check(self, evidence: Evidence) -> Findings:
        names = unmoved(evidence)
        if names:
            yield self.finding(evidence, f"{', '.join(names[:4])} never changed")
