"""EV12 metrics-do-not-balance

What
    A number that the program reports, or keeps states by, is computed again from the outputs and labels
    that were seen at that moment, and is another one: the loss of the last batch, an accuracy with the
    threshold of probabilities put to logits, a metric of the rows that train under the name of
    validation; or the state that is kept as the best is the worst.
Why
    Whoever trusts the number chooses by it: the epoch, the learning rate, the model.
Symptom
    A best model that does worse than the last one, or a metric that moves against another.
Example
    import copy

    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    best, kept = 0.0, None
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[:240]), y[:240]).backward()
        optimizer.step()
        with torch.no_grad():
            loss = nn.functional.cross_entropy(model(x[240:]), y[240:]).item()
        print(f"val_loss {loss:.4f}")
        if loss > best:
            best, kept = loss, copy.deepcopy(model.state_dict())
    model.load_state_dict(kept)
Instead
    - best, kept = 0.0, None
    + best, kept = float("inf"), None
    -     if loss > best:
    +     if loss < best:
Fix safety
    Safe for the training, unless a schedule or the end of the training follows the number.
Sources
    Documentation of torch.optim.lr_scheduler.ReduceLROnPlateau (mode).
    Documentation of torchmetrics (sums are kept over batches, the mean is taken at the end).
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
)
from reenact.faults.facts.imbalances import unnamed_imbalances

FAULT = Fault(
    code="EV12",
    name="metrics-do-not-balance",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE131",
    "metric-does-not-balance",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.LOSSES,
    why="A number that is not what its name says misleads whoever chooses by it.",
    confidence=0.7,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def metric_does_not_balance(detector: Detector, evidence: Evidence) -> Findings:
    """What is reported or kept by is not what its name says, by what the evaluation saw.

    Documentation of torch.optim.lr_scheduler.ReduceLROnPlateau (mode).
    """
    yield from unnamed_imbalances(detector, evidence, BookName.METRICS)
