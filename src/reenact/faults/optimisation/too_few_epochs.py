"""OP09 too-few-epochs

What
    Training stops while the loss still falls at a good rate: the last quarter of the epochs brought a
    good part of all the progress.
Why
    Progress normally slows down before it ends. A curve that is cut off while it is steep ends far from
    what the model can do.
Symptom
    Loss and accuracy still improve in the last epochs; after a single epoch nothing else can be expected.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs(spread=2.0))
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(8):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - for epoch in range(8):
    + for epoch in range(60):
Fix safety
    Unsafe: longer training may overfit; watch the validation loss.
Sources
    Humbatova et al., ICSE 2020 (wrong number of epochs); Prechelt, "Early Stopping, But When?", 1998.
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Hyperparameter,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.series import accuracy, epoch_losses, metric, runaway

SHARE = 0.12
"""Part of the whole fall that belongs to the last quarter of the epochs."""
FALL = 0.08
"""Least fall of the last quarter, against the loss at the end."""
FEW_STEPS = 500
GOOD, HALF = 0.3, 0.5
"""Below this share of the first loss a training may stop though it could go on: half as likely
a fault.
"""
FAULT = Fault(
    code="OP09",
    name="too-few-epochs",
    category=Category.OPTIMISATION,
    page=__doc__,
)


@FAULT.detector(
    "RE014",
    "still-improving",
    "reenact",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="The loss was still falling when the training stopped.",
    study=FaultType.HNE,
)
def still_improving(detector: Detector, evidence: Evidence) -> Findings:
    """Training stops while the loss still falls at a good rate: the last quarter of the epochs
    brought a good part of all the progress.

    Humbatova et al., ICSE 2020 (wrong number of epochs); Prechelt, "Early Stopping, But When?",
    1998.
    """
    param = evidence.hyperparameter(Kind.EPOCHS)
    score = accuracy(evidence)
    # A loss without a bound falls for ever; training longer is no cure.
    if (
        evidence.optimizers > 1
        or (score is not None and score > 0.98)
        or runaway(evidence) is not None
    ):
        return
    values = _longer(param)
    if evidence.watched.epoch_count == 1 and evidence.step_count < FEW_STEPS:
        saw = f"one epoch of {evidence.step_count} steps"
        yield detector.finding(
            evidence,
            saw,
            kind=Kind.EPOCHS,
            values=values,
            confidence=0.5,
        )
        return
    curve = metric(evidence, "val_loss")
    curve = curve if len(curve) >= 4 else epoch_losses(evidence)
    if len(curve) < 4:
        return
    quarter = curve[-1 - max(1, len(curve) // 4)]
    whole = curve[0] - curve[-1]
    last = quarter - curve[-1]
    if whole <= 0.02 * abs(curve[0]):
        return
    if last < SHARE * whole or last < FALL * abs(curve[-1]):
        return
    saw = (
        f"the last quarter of the epochs still took the loss from {quarter:.3g} to {curve[-1]:.3g}"
    )
    sure = min(0.75, 0.2 + 1.2 * last / whole)
    sure = HALF * sure if abs(curve[-1]) < GOOD * abs(curve[0]) else sure
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.EPOCHS,
        values=values,
        confidence=sure,
    )


def _longer(param: Hyperparameter | None) -> tuple[int, ...]:
    now = param.in_force if param is not None else None
    if not isinstance(now, int) or isinstance(now, bool):
        return ()
    return tuple(
        dict.fromkeys(
            (
                max(10, 4 * now),
                2 * now,
                10 * now,
            )
        )
    )
