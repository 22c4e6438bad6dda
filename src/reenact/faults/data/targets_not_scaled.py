"""DA02 targets-not-scaled

What
    The targets of a regression are large numbers: a mean or a spread above ten; or those of one head are so
    large that the loss of the heads beside it is less than a thousandth of the whole.
Why
    The last layer starts near zero and must first walk to the mean of the targets; squared errors of
    large targets make gradients so large that any usual learning rate overshoots.
Symptom
    A loss of thousands that becomes NaN, or falls for ever without the predictions becoming useful.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    y = 500 * y + 2000
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
      y = 500 * y + 2000
    + y = (y - y.mean()) / y.std()
Fix safety
    Unsafe: predictions must be scaled back wherever they are read.
Sources
    Humbatova et al., ICSE 2020 (missing preprocessing); LeCun et al., "Efficient BackProp", 1998, section
    4.5.
"""

import math

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    LossFamily,
    Needs,
    Observes,
    TaskType,
)
from reenact.faults.facts.places import OF_QUANTITIES
from reenact.faults.facts.series import learned, losses, windows
from reenact.program.flow.constants import constant_of
from reenact.program.syntax.lines import call_place, calls
from reenact.program.syntax.pieces import given_as, is_constant, owner_of

LARGE = 10.0
DROWNED = 1e3
"""How many times the loss of guessing a class the whole loss ends at, where classes count for
nothing.
"""
FAULT = Fault(
    code="DA02",
    name="targets-not-scaled",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE006",
    "targets-unscaled",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="Unscaled targets cause huge errors and gradients: standardise them.",
    study=FaultType.CPP,
)
def targets_unscaled(detector: Detector, evidence: Evidence) -> Findings:
    """The targets of a regression are large numbers: a mean or a spread above ten; or those of one
    head are so large that the loss of the heads beside it is less than a thousandth of the whole.

    Humbatova et al., ICSE 2020 (missing preprocessing); LeCun et al., "Efficient BackProp", 1998,
    section 4.5.
    """
    yield from _beside_classes(detector, evidence)
    labels = evidence.labels
    if (
        evidence.task is not TaskType.REGRESSION
        or evidence.loss_family is not LossFamily.REGRESSION
    ):
        return
    if labels is None or labels.mean is None or labels.std is None:
        return
    size = max(abs(labels.mean), labels.std)
    if size > LARGE:
        sure = 0.75 if size > 10 * LARGE else 0.55
        saw = f"targets with mean {labels.mean:.3g} and deviation {labels.std:.3g}"
        place = evidence.place_of(Kind.LOSS)
        sure = 0.6 * sure if learned(evidence) else sure
        yield detector.finding(evidence, saw, place=place, confidence=sure)


def _beside_classes(detector: Detector, evidence: Evidence) -> Findings:
    """Raw quantities in one term of a loss whose other term, which was seen, is of classes."""
    labels = evidence.data("label")
    course = windows(losses(evidence))
    if evidence.loss_family not in (LossFamily.BINARY, LossFamily.CATEGORICAL) or len(course) < 2:
        return
    place = next(
        (found for name in OF_QUANTITIES if (found := call_place(evidence.files, name))),
        None,
    )
    width = evidence.output.width if evidence.output is not None else None
    if place is None or min(course) < DROWNED * math.log(max(2, width or 2)):
        return
    rest = (
        f"a loss that ends at {course[-1]:.3g}: the classes beside it weigh less than a thousandth"
    )
    if labels is not None and labels.mean is not None and not labels.integral:
        if abs(labels.mean) > 10 * LARGE:
            saw = f"targets with mean {labels.mean:.3g} in one term of {rest}"
            yield detector.finding(
                evidence,
                saw,
                place=place,
                confidence=0.95,
                certainty=Certainty.STRONG,
            )
    elif not _sums(evidence):
        # The targets themselves were not seen; only a sum over many values makes such a loss
        # otherwise.
        yield detector.finding(
            evidence, f"quantities in one term of {rest}", place=place, confidence=0.7
        )


def _sums(evidence: Evidence) -> bool:
    """Whether the program sums a term over many values, which makes it large by itself."""
    sums = [call for call in calls(evidence.files, "sum") if owner_of(call) is not None]
    over_axes = any(call.args for call in sums) or bool(given_as(sums, "dim", "axis"))
    reductions = map(constant_of, given_as(calls(evidence.files), "reduction"))
    return over_axes or any(is_constant(one, "sum") for one in reductions)
