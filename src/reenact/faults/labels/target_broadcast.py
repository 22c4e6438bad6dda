"""LA03 target-broadcast

What
    Output and target have shapes that a loss of single values stretches to a common one: (rows, 1) and
    (rows,) become (rows, rows). The loss may be one of PyTorch's or written by hand.
Why
    Every output is then compared with the target of every row. What is best is the mean of all targets,
    whatever the input is.
Symptom
    The loss falls to the variance of the targets and stays there; PyTorch warns of a target size that
    differs from the input size.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    model = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y[:, 0])
        loss.backward()
        optimizer.step()
Instead
    -     loss = nn.functional.mse_loss(model(x), y[:, 0])
    +     loss = nn.functional.mse_loss(model(x), y[:, 0].unsqueeze(1))
Fix safety
    Unsafe: it changes what is trained, to what was meant.
Sources
    Documentation of torch.nn.MSELoss and of the broadcasting rules of NumPy.
"""

import math
import re

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
    Place,
    Severity,
)
from reenact.faults.fixes.outputs import align_target
from reenact.probe.trace import Event
from reenact.program.syntax.excerpt import excerpt
from reenact.program.syntax.lines import calls
from reenact.program.syntax.pieces import place_of
from reenact.program.training.made import loss_made

WARNED = "Using a target size"
"""How PyTorch itself warns of it."""
FAULT = Fault(
    code="LA03",
    name="target-broadcast",
    category=Category.LABELS,
    page=__doc__,
)


@FAULT.detector(
    "RE033",
    "broadcast-target",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why=(
        "Every output is compared with the targets of all rows, so that only their mean can be "
        "learned."
    ),
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
)
def broadcast_target(detector: Detector, evidence: Evidence) -> Findings:
    """Output and target have shapes that a loss of single values stretches to a common one: (rows,
    1) and (rows,) become (rows, rows). The loss may be one of PyTorch's or written by hand.

    Documentation of torch.nn.MSELoss and of the broadcasting rules of NumPy.
    """
    loss = evidence.loss
    wide = evidence.experiments.stretched
    if wide is not None:
        saw = (
            f"output {wide.output} and target {wide.target} broadcast to {2 * (max(wide.output),)}"
        )
        yield detector.finding(
            evidence,
            saw,
            fixes=align_target(evidence, wide.place, wide.output, wide.target),
            place=loss_made(evidence.files, wide.place),
        )
        return
    compares = loss is not None and evidence.loss_family is LossFamily.REGRESSION
    output, target = (loss.compared if loss is not None and compares else None) or (
        (),
        (),
    )
    column, row = (output, target) if len(output) > len(target) else (target, output)
    if loss is not None and len(row) == 1 and row[0] > 1 and column == (row[0], 1):
        edit = _edit(
            evidence,
            loss.called,
            "unsqueeze" if len(output) > len(target) else "squeeze",
        )
        saw = f"output {output} and target {target} broadcast to {(row[0], row[0])}{edit}"
        warned = next(
            (one.place for one in _warnings(evidence)),
            None,
        )
        place = warned or loss.called or evidence.place_of(Kind.LOSS)
        yield detector.finding(
            evidence,
            saw,
            fixes=align_target(evidence, loss.called or warned, output, target),
            place=place,
        )
    elif len(output) == len(target) == 2 and output[0] == target[0] > 1 == target[1] < output[1]:
        saw = f"one target a row, {target}, is compared with each of {output[1]} outputs, {output}"
        yield detector.finding(
            evidence,
            saw,
            layer=evidence.output,
            kind=Kind.UNITS,
            values=(1,),
            study=FaultType.LCN,
            certainty=Certainty.STRONG,
            confidence=0.85,
        )
    else:
        yield from _warned(detector, evidence)


def _broadcast(first: list[int], second: list[int]) -> bool:
    """Whether they can be: PyTorch warns first, and where they cannot the program ends there."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return all(one == other or 1 in (one, other) for one, other in pairs)


def _warnings(evidence: Evidence) -> list[Event]:
    return [one for one in evidence.happened("warning") if WARNED in str(one.facts.get("message"))]


def _edit(evidence: Evidence, place: Place | None, method: str) -> str:
    """What to write instead, where the call of the loss can be read."""
    for call in calls(evidence.files):
        if len(call.args) == 2 and str(place_of(call)) == str(place):
            old = excerpt(call.args[1])
            return f"; change {old} to {old}.{method}(1)"
    return ""


def _warned(detector: Detector, evidence: Evidence) -> Findings:
    """What PyTorch itself warned of; one number is compared with many on purpose."""
    for one in _warnings(evidence):
        found = re.findall(
            r"Size\(\[([\d, ]*)\]\)",
            str(one.facts.get("message")),
        )
        sizes = [[int(size) for size in text.split(",") if size.strip()] for text in found]
        if len(sizes) == 2 and _broadcast(*sizes) and all(math.prod(size) > 1 for size in sizes):
            target, output = map(tuple, sizes)
            saw = (
                f"target {target} and output {output} are broadcast to one another, as PyTorch "
                f"warns"
            )
            yield detector.finding(
                evidence,
                saw,
                fixes=align_target(evidence, one.place, output, target),
                place=one.place,
            )
            return
