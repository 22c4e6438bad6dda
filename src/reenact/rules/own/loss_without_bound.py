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

from dataclasses import replace
from itertools import pairwise

from reenact.rules import Certainty, Evidence, Findings, Kind, Needs, Place, Rule, Severity
from reenact.rules.own._lines import called, indexes, place_in
from reenact.rules.own._series import losses, runaway, windows

BELOW = 100.0
"""Times the size of the first loss that a loss is below zero."""
STEADY = 0.15
"""Share of the whole fall that the last quarter still brings."""


class LossWithoutBound(Rule):
    code, name, family, fault = "RE032", "loss-without-bound", "reenact", None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.9
    why = "A loss that can be lowered, or grows, for ever rewards large outputs instead of right ones."

    def check(self, evidence: Evidence) -> Findings:
        ends, falls = runaway(evidence), _falls_for_ever(evidence)
        ends = ends or falls
        if ends is None:
            return
        saw = f"loss {ends[0]:.3g} at the first step, {ends[1]:.3g} at the last"
        finding = self.finding(evidence, saw, place=_goes_back(evidence))
        # What falls below every bound is the objective itself; what grows may have other reasons.
        certain = replace(finding, is_root_cause=True, certainty=Certainty.STRONG)
        yield certain if ends[1] < 0 else finding


def _falls_for_ever(evidence: Evidence) -> tuple[float, float] | None:
    """First and last loss, where the last is far below zero and the fall goes on to the end."""
    course = windows(losses(evidence))
    if evidence.optimizers > 1 or len(course) < 8 or course[-1] > -BELOW * max(1.0, abs(course[0])):
        return None
    late = course[len(course) // 2 :]
    goes_on = course[-1 - len(course) // 4] - course[-1] > STEADY * (course[0] - course[-1])
    steady = all(later < now for now, later in pairwise(late))
    return (course[0], course[-1]) if goes_on and steady else None


def _goes_back(evidence: Evidence) -> Place | None:
    """The loss, else the line that sends it backward."""
    place = evidence.loss.place if evidence.loss is not None else None
    found = (
        place_in(index, call)
        for index in indexes(evidence)
        for call in index.calls
        if called(call) == "backward"
    )
    return place or evidence.place_of(Kind.LOSS) or next(found, None)
