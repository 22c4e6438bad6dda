"""OU11 formulas-do-not-balance

What
    A loss of a known family does not give what its formula gives: distributions are compared along
    different axes, or targets are no probabilities. Or a schedule of learning rates is stepped once an
    epoch though its length is that of all steps of the optimizer.
Why
    A loss is a formula with a domain. Outside of it the value has no meaning: a divergence falls below 0,
    and its lowest value is somewhere else than where the distributions are the same. A schedule that is
    stepped too rarely stays at its beginning.
Symptom
    The loss falls, even below what is possible, and the model gets no better.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    soft = nn.functional.one_hot(y, 3) * 0.9 + 1 / 30
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        scores = model(x)
        scores = scores.log_softmax(dim=0)
        nn.functional.kl_div(scores, soft, reduction="batchmean").backward()
        optimizer.step()
Instead
    -     scores = scores.log_softmax(dim=0)
    +     scores = scores.log_softmax(dim=1)
Fix safety
    There is nothing to change automatically: what was meant decides what the loss is given.
Sources
    Documentation of torch.nn.KLDivLoss, torch.nn.CrossEntropyLoss and
    torch.optim.lr_scheduler.OneCycleLR ("step should be called after a batch").
"""

from reenact.accounts import BookName
from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.imbalances import unnamed_imbalances

FAULT = Fault(
    code="OU11",
    name="formulas-do-not-balance",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE140",
    "formulas-out-of-balance",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.OUTPUTS,
    why="Outside of its domain a formula says nothing of how far the model is from what it should do.",
    severity=Severity.ERROR,
    confidence=0.7,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def formulas_out_of_balance(detector: Detector, evidence: Evidence) -> Findings:
    """A loss of a known family gives what its formula cannot give, or is given what it does not take;
    or a schedule is not stepped as it is planned.

    Documentation of torch.nn.KLDivLoss and of torch.optim.lr_scheduler.
    """
    yield from unnamed_imbalances(detector, evidence, BookName.FORMULAS)
