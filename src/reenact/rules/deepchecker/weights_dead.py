"""TC009 weights-dead

What
    Nearly all weights of a layer are zero, or nearly all are negative.
Why
    A layer of zeros passes nothing on. Negative weights on inputs that are never negative leave every
    relu at zero.
Symptom
    Outputs of the layer are zero or constant.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.constant_(model[0].weight, -0.5)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.constant_(model[0].weight, -0.5)
Fix safety
    Unsafe: another start, penalty or learning rate is another training.
Sources
    {paper}, dead and negative weights, shares above 95 %.
"""

import math

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.own._series import finite

MOST = 0.95
FEWEST = 16
"""Smaller tensors are all of one sign by chance."""


class WeightsDead(Rule):
    code, name, family, fault = "TC009", "weights-dead", "deepchecker", Fault.WCI
    needs, confidence = Needs.TRACE, 0.6
    why = "A layer of zeros passes nothing on, and negative weights leave every relu at zero."

    def check(self, evidence: Evidence) -> Findings:
        for number, facts in enumerate(evidence.watched.parameter_facts):
            rows = evidence.watched.parameters.where(parameter=number)
            # The biases of an attention have two axes, and that of its keys never gets a gradient.
            is_bias = facts.name.endswith("bias") or len(facts.shape) < 2
            if is_bias or math.prod(facts.shape) < FEWEST or len(rows) < 3:
                continue
            for what, word in (("tiny", "zero"), ("negative", "negative")):
                shares = finite(list(rows[f"weight_{what}_share"]))
                if shares and shares[-1] > MOST:
                    saw = f"{shares[-1]:.0%} of {facts.name} is {word}"
                    yield self.finding(evidence, saw, kind=Kind.WEIGHT_INIT)
                    break
