"""OP05 missing-zero-grad

What
    Gradients of one step are still there when those of the next are added.
Why
    PyTorch adds gradients up. Without `zero_grad` every step moves along the sum of all gradients so far:
    a momentum of one, on old weights. Gradients that are collected on purpose and cleared after the step
    are left alone.
Symptom
    The loss falls at first, then swings ever wider.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        loss = loss_of(model(x), y)
        loss.backward()
        optimizer.step()
Instead
      for epoch in range(30):
    +     optimizer.zero_grad()
Fix safety
    Unsafe: it changes every step after the first.
Sources
    Documentation of torch.optim.Optimizer.zero_grad; Jiang et al., "TrainCheck", OSDI 2025 (missing
    zero_grad).
"""

import ast
from statistics import fmean

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.fixes.gradients import clear_gradients
from reenact.probe.trace import Trace
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.lines import call_place, calls
from reenact.program.syntax.pieces import owner_of
from reenact.program.training.roles import schedules

MOST = 0.9
FEWEST = 3
"""Steps below which the run tells nothing, and the text decides."""
FAULT = Fault(
    code="OP05",
    name="missing-zero-grad",
    category=Category.OPTIMISATION,
    page=__doc__,
)


# The steps of a run or, without enough of them, the text.
@FAULT.detector(
    "RE010",
    "gradients-not-cleared",
    "reenact",
    needs=Needs(0),
    observes=Observes.GRADIENTS,
    why="Gradients add up over all steps because they are never reset.",
    study=FaultType.ZGR,
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
)
def gradients_not_cleared(detector: Detector, evidence: Evidence) -> Findings:
    """Gradients of one step are still there when those of the next are added.

    Documentation of torch.optim.Optimizer.zero_grad; Jiang et al., "TrainCheck", OSDI 2025 (missing
    zero_grad).
    """
    if _is_kept(evidence):
        yield from _by_the_book(detector, evidence)
        return
    trace = evidence.trace if evidence.trace is not None and evidence.trace.step_count else None
    known = _carried(trace) if trace is not None else []
    if len(known) >= FEWEST:
        cleared = len(known) - sum(known)
        # So often gradients would be cleared if that stood before the loop over batches.
        epochs = (trace.epoch_count or 0) if trace is not None else 0
        each_epoch = cleared <= epochs and sum(known) > len(known) / 2
        if (cleared > (1 - MOST) * len(known) and not each_epoch) or _in_turns(evidence):
            return
        saw = f"gradients were not zeroed before {sum(known):.0f} of {len(known)} backward passes"
    else:
        param = evidence.hyperparameter(Kind.ZERO_GRAD)
        if param is None or not param.absent:
            return
        saw = "nothing in the program sets gradients to zero"
    place = evidence.place_of(Kind.ZERO_GRAD) or call_place(evidence.files, "backward")
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.ZERO_GRAD,
        values=(True,),
        fixes=clear_gradients(evidence),
        place=place,
    )


def _is_kept(evidence: Evidence) -> bool:
    """Whether the book of gradients knows what steps spent: then neither text nor names are asked."""
    books = evidence.trace.books if evidence.trace is not None else None
    owners = books.gradients.owners if books is not None and books.gradients is not None else ()
    return any(one.steps >= FEWEST for one in owners)


def _by_the_book(detector: Detector, evidence: Evidence) -> Findings:
    """The optimizer that spends most of its gradients again."""
    for found in tuple(imbalances(detector, evidence))[:1]:
        observed = found.first
        yield detector.finding(
            evidence,
            observed.saw,
            kind=Kind.ZERO_GRAD,
            values=(True,),
            fixes=clear_gradients(evidence),
            place=evidence.place_of(Kind.ZERO_GRAD)
            or call_place(evidence.files, "backward")
            or observed.place,
            confidence=observed.confidence,
            certainty=observed.certainty,
        )


def _carried(trace: Trace) -> list[float]:
    """For each step but the first, where known: 1 when it began with gradients of the step before.
    Of several optimizers those of the one whose gradients are cleared least.
    """
    norms = trace.steps["grad_norm"]
    alive = max((number for number, norm in enumerate(norms) if norm > 0), default=len(norms))
    # A network that died has no gradients to clear.
    last = alive + 1 if any(norm == 0 for norm in norms[alive + 1 :]) else len(norms)
    both = zip(trace.steps["optimizer"][:last], trace.steps["carried"][:last], strict=True)
    known = [(number, float(value)) for number, value in both if value == value]
    numbers = dict.fromkeys(number for number, _ in known)
    each = [[value for one, value in known if one == number][1:] for number in numbers]
    every = [value for _, value in known][1:]
    return max((one for one in each if len(one) >= FEWEST), key=fmean, default=every)


def _in_turns(evidence: Evidence) -> bool:
    """Of several optimizers each clears its own: gradients of the others' losses lie there on
    purpose.
    """
    cleared, stepped = (_receivers(evidence, name) for name in ("zero_grad", "step"))
    several = any(not same(one, stepped[0]) for one in stepped)
    each = several and all(any(same(one, other) for other in cleared) for one in stepped)
    return evidence.optimizers > 1 and (evidence.optimizers <= len(cleared) or each)


def _receivers(evidence: Evidence, name: str) -> list[ast.expr]:
    """Whose method of this name the program calls, call by call, but for schedules."""
    schedule = [one for index in evidence.files for one in schedules(index)]
    owners = [one for one in map(owner_of, calls(evidence.files, name)) if one is not None]
    return [owner for owner in owners if not any(same(owner, one) for one in schedule)]
