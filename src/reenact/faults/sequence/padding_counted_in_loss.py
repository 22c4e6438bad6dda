"""SQ04 padding-counted-in-loss

What
    Targets are filled up to one length, and the loss counts the filling like any other class.
Why
    Padding is the easiest class there is. The loss falls because the model learns to write padding, and the
    more padding a batch has the less its real tokens count.
Symptom
    A low loss and a high accuracy per token, and answers that are short, empty or wrong.
Example
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pad_sequence

    torch.manual_seed(0)
    rows = [torch.randint(1, 20, (2 + number % 9,)) for number in range(64)]
    x = pad_sequence(rows, batch_first=True)
    y = pad_sequence([20 - row for row in rows], batch_first=True)
    model = nn.Sequential(nn.Embedding(20, 4), nn.Linear(4, 20))
    loss_of = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(300):
        optimizer.zero_grad()
        loss_of(model(x).flatten(0, 1), y.flatten()).backward()
        optimizer.step()
Instead
    - loss_of = nn.CrossEntropyLoss()
    + loss_of = nn.CrossEntropyLoss(ignore_index=0)
Fix safety
    Unsafe: it changes what is trained, to what was meant.
Sources
    Documentation of torch.nn.CrossEntropyLoss (`ignore_index`).
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    Needs,
    Observes,
)
from reenact.faults.facts.series import learned
from reenact.faults.fixes.outputs import ignore_padding

LEAST = 0.2
"""Share of the targets below which padding hardly counts."""
DOUBTED = 0.35
"""Confidence where the training comes to know its rows: a model may be meant to write padding."""
FAULT = Fault(
    code="SQ04",
    name="padding-counted-in-loss",
    category=Category.SEQUENCE,
    page=__doc__,
)


@FAULT.detector(
    "RE066",
    "padding-counted",
    "reenact",
    needs=Needs.EXPERIMENTS,
    observes=Observes.EXPERIMENT,
    why="The loss falls because the model learns to write padding, and real tokens count less.",
    study=FaultType.LCH,
)
def padding_counted(detector: Detector, evidence: Evidence) -> Findings:
    """Targets are filled up to one length, and the loss counts the filling like any other class.

    Documentation of torch.nn.CrossEntropyLoss (`ignore_index`).
    """
    counted = evidence.experiments.padding_counted
    if counted is None or counted.share < LEAST:
        return
    saw = (
        f"{counted.share:.0%} of the targets are padding ({counted.value}) and count in the loss: "
    )
    saw += f"{counted.loss:.3g} with them, {counted.without:.3g} with ignore_index={counted.value}"
    sure = DOUBTED if learned(evidence) else None
    yield detector.finding(
        evidence,
        saw,
        kind=Kind.LOSS,
        fixes=ignore_padding(evidence, counted.value),
        confidence=sure,
    )
