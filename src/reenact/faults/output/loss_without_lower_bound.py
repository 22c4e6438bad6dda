"""OU07 loss-without-lower-bound

What
    The loss runs away: towards minus infinity, or so far up that no training comes back from there. So does
    that of a critic whose weights nothing holds, and a likelihood whose variance has no floor.
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

import ast
from itertools import pairwise
from statistics import median

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Kind,
    Needs,
    Observes,
    Place,
    Severity,
)
from reenact.faults.facts.series import finite, losses, runaway, windows
from reenact.program.flow.library_uses import has_keyword, uses
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import call_place, first_place, nodes
from reenact.program.syntax.pieces import called, is_call, is_minus, is_sum, place_of, subject_of
from reenact.program.training.made import loss_made

BELOW = 10.0
"""Times the size of the first loss that a loss is below zero."""
GROWN = 30.0
"""Times the size of its first losses that the loss of a critic falls."""
HELD = (
    "spectral_norm",
    "weight_norm",
    "parametrizations",
    "clamp_",
    "clip_",
)
"""What holds the slope of a critic."""
STEADY = 0.15
"""Share of the whole fall that the last quarter still brings."""
FLOORS = (
    "clamp",
    "clamp_",
    "clamp_min",
    "clip",
    "clip_",
    "softplus",
    "Softplus",
    "hardtanh",
    "Hardtanh",
    "maximum",
    "clip_by_value",
)
FAULT = Fault(
    code="OU07",
    name="loss-without-lower-bound",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE032",
    "loss-without-bound",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why=(
        "A loss that can be lowered, or grows, for ever rewards large outputs instead of right "
        "ones."
    ),
    severity=Severity.ERROR,
    confidence=0.9,
)
def loss_without_bound(detector: Detector, evidence: Evidence) -> Findings:
    """The loss runs away: towards minus infinity, or so far up that no training comes back from
    there. So does that of a critic whose weights nothing holds, and a likelihood whose variance has
    no floor.

    Kingma and Welling, "Auto-Encoding Variational Bayes", ICLR 2014, equation 10 (the sign of the
    KL term); TheDeepChecker (divergence), Ben Braiek and Khomh, TOSEM 2022.
    """
    found = _critic(evidence) or _no_floor(evidence)
    if found is not None:
        finding = detector.finding(
            evidence,
            found[0],
            place=found[1],
        )
        yield finding.refined(is_root_cause=True, certainty=Certainty.STRONG)
        return
    ends = runaway(evidence) or _falls_for_ever(evidence)
    if ends is None:
        return
    saw = f"loss {ends[0]:.3g} at the first step, {ends[1]:.3g} at the last"
    finding = detector.finding(evidence, saw, place=_goes_back(evidence))
    # What falls below every bound is the objective itself; what grows may have other reasons.
    yield (
        finding.refined(is_root_cause=True, certainty=Certainty.STRONG) if ends[1] < 0 else finding
    )


def _falls_for_ever(evidence: Evidence) -> tuple[float, float] | None:
    """First and last loss, where the last is far below zero and the fall goes on to the end."""
    course = windows(losses(evidence))
    if evidence.optimizers > 1 or len(course) < 8:
        return None
    if course[-1] > -BELOW * max(1.0, abs(course[0])):
        return None
    late = course[len(course) // 2 :]
    goes_on = course[-1 - len(course) // 4] - course[-1] > STEADY * (course[0] - course[-1])
    if goes_on and all(later < now for now, later in pairwise(late)):
        return (course[0], course[-1])
    return None


def _critic(evidence: Evidence) -> tuple[str, Place | None] | None:
    """A critic whose loss falls as far as its weights grow: nothing clips them or holds its
    slope.
    """
    if evidence.optimizers != 2 or evidence.copies or evidence.acts or _is_held(evidence):
        return None
    for number in (0, 1):
        rows = evidence.watched.steps.where(optimizer=number)
        course = finite(list(rows["loss"]))
        norms = finite(list(rows["weight_norm"]))
        tenth = len(course) // 10
        if tenth < 10 or len(norms) < 4:
            continue
        first = max(abs(loss) for loss in course[:3])
        last = median(course[-tenth:])
        if last < -BELOW and last < -GROWN * max(first, 0.1) and norms[-1] > 1.5 * norms[0]:
            saw = (
                f"loss {course[0]:.3g} at the first step, {last:.3g} in the end, while the weights "
                f"grew"
            )
            # Where two means are set against each other.
            lines = (one for one in nodes(evidence.files, ast.BinOp) if is_sum(one, ast.Sub))
            means = (one for one in lines if called(one.left) == called(one.right) == "mean")
            place = first_place(means) or _goes_back(evidence)
            return f"{saw} {norms[-1] / norms[0]:.1f} times as large", place
    return None


def _no_floor(evidence: Evidence) -> tuple[str, Place | None] | None:
    """A likelihood below zero that falls back again and again: its variance goes to `exp` as it
    is.
    """
    course = windows(losses(evidence), 24)
    lowest = min(course, default=0.0)
    if len(course) < 12 or lowest > -1:
        return None
    fallen_back = max(course[course.index(lowest) :]) - lowest
    constant = evidence.inputs is not None and evidence.inputs.constant_features > 0
    if fallen_back < 0.2 * (course[0] - lowest) or not constant:
        return None
    if uses(evidence.files, *FLOORS):
        return None
    for node in nodes(evidence.files, ast.BinOp):
        if _divides_by_exp(node):
            saw = f"a likelihood of {lowest:.3g} that falls back by {fallen_back:.3g}: {excerpt(node)}"
            return (
                f"{saw} has no floor, and some values of the data never change",
                place_of(node),
            )
    return None


def _is_held(evidence: Evidence) -> bool:
    return uses(evidence.files, *HELD) or has_keyword(evidence.files, "create_graph")


def _divides_by_exp(node: ast.BinOp) -> bool:
    """Whether it is `x / log_var.exp()` or `x * exp(-log_var)`."""
    if isinstance(node.op, ast.Div):
        return is_call(node.right, "exp")
    sides = [side for side in (node.left, node.right) if is_call(side, "exp")]
    return isinstance(node.op, ast.Mult) and any(is_minus(subject_of(side)) for side in sides)


def _goes_back(evidence: Evidence) -> Place | None:
    """The loss, else the line that sends it backward."""
    place = evidence.loss.place if evidence.loss is not None else None
    return (
        place
        or evidence.place_of(Kind.LOSS)
        or loss_made(evidence.files, call_place(evidence.files, "backward"))
    )
