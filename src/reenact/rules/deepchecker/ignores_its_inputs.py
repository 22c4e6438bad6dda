"""TC004 ignores-its-inputs

What
    The model learns a batch just as well when all its inputs are zero.
Why
    What is learned then does not depend on the inputs: the signal is lost on its way, or only the biases
    move.
Symptom
    Predictions are the same for every row.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import images

    x, y = map(torch.from_numpy, images())
    x = x // 255
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - x = x // 255
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    {paper}, fitting a batch with zeroed inputs. The paper compares the last hundred losses by a rank test;
    here their medians are.
"""

import statistics

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._series import finite

LATE, WORSE = 20, 1.05
UNSURE = 0.4
"""Confidence where the loss compares with nothing that stays, such as a policy's or a value's."""


class IgnoresItsInputs(Rule):
    code, name, family, fault = "TC004", "ignores-its-inputs", "deepchecker", None
    needs, severity, confidence = Needs.EXPERIMENTS, Severity.ERROR, 0.8
    why = "What is learned does not depend on what is asked."

    def check(self, evidence: Evidence) -> Findings:
        saw = ignores_inputs(evidence)
        if saw:
            yield self.finding(evidence, saw, confidence=None if evidence.compares else UNSURE)


def ignores_inputs(evidence: Evidence) -> str:
    """What was seen of a model that learns a batch as well without its inputs; empty where it does not."""
    tried = evidence.experiments.one_batch
    both = (tried.losses, tried.zeroed_losses) if tried is not None else ((), ())
    seen, blind = (finite(list(losses[-LATE:])) for losses in both)
    if len(seen) < LATE // 2 or len(blind) < LATE // 2:
        return ""
    with_inputs, without = statistics.median(seen), statistics.median(blind)
    if without > WORSE * with_inputs or with_inputs <= 1e-3:
        return ""
    return f"loss {with_inputs:.3g} on one batch, {without:.3g} with its inputs set to zero"
