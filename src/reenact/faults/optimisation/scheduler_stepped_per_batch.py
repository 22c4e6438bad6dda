"""OP07 scheduler-stepped-per-batch

What
    The learning rate falls to less than a hundredth within the first half of the training, several times
    in an epoch.
Why
    A schedule that is meant for epochs is stepped after every batch: the rate is gone before the training
    has begun.
Symptom
    The loss falls at first and then stands still.
Example
    import torch
    from torch import nn
    from torch.utils.data import DataLoader, TensorDataset
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
    for epoch in range(12):
        for rows, labels in DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(rows), labels).backward()
            optimizer.step()
            scheduler.step()
Instead
    -         scheduler.step()
    +     scheduler.step()
Fix safety
    Unsafe: the learning rate stays higher.
Sources
    Documentation of torch.optim.lr_scheduler ("step_size: period of learning rate decay", in epochs).
"""

from itertools import pairwise

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
    Place,
    Severity,
)
from reenact.faults.facts.imbalances import imbalances
from reenact.faults.fixes.schedules import step_each_epoch
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.lines import calls, first_place
from reenact.program.syntax.pieces import owner_of
from reenact.program.training.lexicon import TORCH_SCHEDULERS
from reenact.program.training.roles import schedules

GONE = 1.5e-2
"""Share of the largest learning rate below which nothing is learned any more: two falls to a
tenth are.
"""
MOST = 0.5
"""Share of the steps that a schedule may leave below that."""
EPOCHS = 3
"""From so many on, a schedule that is over within the first was not made for batches."""
FAULT = Fault(
    code="OP07",
    name="scheduler-stepped-per-batch",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE044",
    "schedule-per-batch",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why=(
        "A schedule made for epochs is stepped after every batch: the learning rate is gone too "
        "soon."
    ),
    study=FaultType.HSC,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def schedule_per_batch(detector: Detector, evidence: Evidence) -> Findings:
    """The learning rate falls to less than a hundredth within the first half of the training,
    several times in an epoch.

    Documentation of torch.optim.lr_scheduler ("step_size: period of learning rate decay", in
    epochs).
    """
    rates = [float(rate) for rate in evidence.watched.steps["learning_rate"] if rate == rate]
    if len(rates) < 20 or evidence.optimizers > 1 or rates[-1] >= GONE * max(rates):
        return
    falls = [number for number in range(1, len(rates)) if rates[number] < rates[number - 1]]
    low = sum(rate < GONE * max(rates) for rate in rates) / len(rates)
    epochs = evidence.watched.epoch_count or 1
    at_once = len(falls) > 1 and epochs >= EPOCHS and falls[-1] < len(rates) / epochs
    # A schedule of epochs lowers the rate once an epoch at most.
    most_falls = epochs if epochs >= EPOCHS else 2 * epochs
    often_enough = len(falls) > most_falls or at_once
    if low >= MOST and often_enough and not any(later > now for now, later in pairwise(rates)):
        often = f"{len(falls)} times in {f'the first of {epochs}' if at_once else epochs} epochs"
        saw = f"learning rate {max(rates):.2g} falls {often}, to {rates[-1]:.1e}"
        yield detector.finding(
            evidence,
            saw,
            place=_stepped(evidence),
            kind=Kind.SCHEDULER,
            fixes=step_each_epoch(evidence),
        )


@FAULT.detector(
    "RE144",
    "schedule-against-plan",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.GRADIENTS,
    why="A schedule made for epochs is stepped after every batch: it is over before the training is.",
    study=FaultType.HSC,
    severity=Severity.ERROR,
    confidence=0.9,
    certainty=Certainty.STRONG,
)
def schedule_against_plan(detector: Detector, evidence: Evidence) -> Findings:
    """The length that a schedule is planned for is that of the epochs, and it is stepped with the
    optimizer: it is over within the first epoch, or wraps round and round.

    Documentation of torch.optim.lr_scheduler.CosineAnnealingLR ("T_max: maximum number of iterations").
    """
    fixes = step_each_epoch(evidence)
    for finding in imbalances(detector, evidence, fixes=lambda _: fixes):
        yield finding.refined(place=_stepped(evidence) or finding.place)


def _stepped(evidence: Evidence) -> Place | None:
    """Where the schedule is stepped, else where it is made."""
    made = [one for index in evidence.files for one in schedules(index)]
    steps = calls(evidence.files, "step")
    stepped = (call for call in steps if any(same(owner_of(call), one) for one in made))
    return first_place(stepped) or first_place(calls(evidence.files, *TORCH_SCHEDULERS))
