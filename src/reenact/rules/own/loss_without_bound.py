"""RE032 loss-without-bound

What
    The loss runs away: towards minus infinity, or so far up that no training comes back from there.
Why
    A loss that can be lowered for ever rewards growing outputs instead of right ones. The sign of a term
    is wrong, a logarithm or a variance has no floor, or the steps are far too large.
Symptom
    A loss of -2e20 that "improves" with every epoch.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(60):
        optimizer.zero_grad()
        (-nn.functional.mse_loss(model(x), y)).backward()
        optimizer.step()
Instead
    -     (-nn.functional.mse_loss(model(x), y)).backward()
    +     nn.functional.mse_loss(model(x), y).backward()
Fix safety
    There is nothing to change automatically: look at the signs of the terms of the loss.
Sources
    Kingma and Welling, "Auto-Encoding Variational Bayes", ICLR 2014, equation 10 (the sign of the KL
    term); TheDeepChecker (divergence), Ben Braiek and Khomh, TOSEM 2022.
"""

from reenact.rules import Evidence, Findings, Needs, Rule, Severity
from reenact.rules.own._series import runaway


class LossWithoutBound(Rule):
    code, name, family, fault = "RE032", "loss-without-bound", "reenact", None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.9
    why = "A loss that can be lowered, or grows, for ever rewards large outputs instead of right ones."

    def check(self, evidence: Evidence) -> Findings:
        ends = runaway(evidence)
        if ends is not None:
            yield self.finding(evidence, f"loss {ends[0]:.3g} at the first step, {ends[1]:.3g} at the last")
