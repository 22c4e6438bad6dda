"""EV07 overfitting

What
    The model knows the training data far better than held-out data, and becomes worse on the latter.
Why
    It remembers rows instead of learning what they have in common: too much model for too little data, or
    too long a training.
Symptom
    Validation loss rises while training loss falls.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(60, features=30, spread=5.0))
    model = nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(40):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[::2]), y[::2]).backward()
        optimizer.step()
        with torch.no_grad():
            print("val_accuracy", (model(x[1::2]).argmax(1) == y[1::2]).float().mean().item())
Instead
    - x, y = map(torch.from_numpy, blobs(60, features=30, spread=5.0))
    + x, y = map(torch.from_numpy, blobs(3000, features=30, spread=5.0))
Fix safety
    There is nothing to change here: fewer epochs, dropout, a penalty, more data or a smaller model may
    help.
Sources
    Prechelt, "Early Stopping, But When?", 1998; SageMaker Debugger (Overfit).
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
)
from reenact.faults.facts.series import (
    accuracy,
    epoch_losses,
    metric,
    validation_accuracy,
)
from reenact.probe.trace import Trace

RISE, GAP = 1.25, 0.15
PATIENCE = 3
LASTING_RISE = 1.1
FAULT = Fault(
    code="EV07",
    name="overfitting",
    category=Category.EVALUATION,
    page=__doc__,
)


@FAULT.detector(
    "RE030",
    "overfits",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="It remembers its rows instead of learning what they have in common.",
    confidence=0.65,
)
def overfits(detector: Detector, evidence: Evidence) -> Findings:
    """The model knows the training data far better than held-out data, and becomes worse on the
    latter.

    Prechelt, "Early Stopping, But When?", 1998; SageMaker Debugger (Overfit).
    """
    if evidence.optimizers > 1:
        return
    held = metric(evidence, "val_loss")
    trained = epoch_losses(evidence)
    rises = len(held) > 2 and held[-1] > RISE * min(held)
    if rises and trained and trained[-1] < 0.5 * held[-1]:
        saw = f"validation loss {held[-1]:.3g} after {min(held):.3g} at its best"
        yield detector.finding(
            evidence,
            f"{saw}; training loss {trained[-1]:.3g}",
        )
        return
    known = accuracy(evidence)
    judged = validation_accuracy(evidence)
    if known is not None and len(judged) > 2 and known > 0.9 and known - max(judged) > GAP:
        saw = f"accuracy {known:.2f} in training, {max(judged):.2f} at best in validation"
        yield detector.finding(evidence, saw)


@FAULT.detector(
    "UM011",
    "overfitting",
    "umlaut",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="What is still learned helps on the training rows only.",
    confidence=0.7,
)
def overfitting(detector: Detector, evidence: Evidence) -> Findings:
    """The validation loss has been rising for several epochs while the training loss kept falling.

    {paper}. The release fires at the first epoch in which the one loss rises and the other does
    not, which noise alone brings about; here the rise must last three epochs and come to a tenth of
    the loss.
    """
    held, trained = _loss_curves(evidence.watched)
    if len(held) <= PATIENCE:
        return
    best = held.index(min(held))
    since = len(held) - 1 - best
    rose = since >= PATIENCE and min(held[-PATIENCE:]) > LASTING_RISE * held[best] > 0
    if rose and trained[-1] < trained[best]:
        saw = f"validation loss {held[best]:.3g} -> {held[-1]:.3g} in the last {since} epochs"
        saw += f", training loss {trained[best]:.3g} -> {trained[-1]:.3g}"
        yield detector.finding(evidence, saw)


def _loss_curves(trace: Trace) -> tuple[list[float], list[float]]:
    """Validation losses, and the mean loss of the steps since the validation before."""
    seen = trace.metric("val_loss").known
    losses = trace.losses.known
    held = []
    trained = []
    before = -1
    for step, value in zip(seen.steps, seen.values, strict=True):
        steps = losses.values[(losses.steps > before) & (losses.steps <= step)]
        if len(steps):
            held.append(float(value))
            trained.append(float(steps.mean()))
            before = int(step)
    return held, trained
