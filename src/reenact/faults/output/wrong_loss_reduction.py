"""OU04 wrong-loss-reduction

What
    The loss adds up over the rows of a batch instead of taking their mean.
Why
    The gradient then grows with the batch: the learning rate that suits one batch size is a hundred times
    too large at another, and the shorter last batch counts less.
Symptom
    Losses in the hundreds, and a training that breaks when the batch size changes.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y, reduction="sum").backward()
        optimizer.step()
Instead
    -     nn.functional.cross_entropy(model(x), y, reduction="sum").backward()
    +     nn.functional.cross_entropy(model(x), y).backward()
Fix safety
    Unsafe: gradients become smaller by the batch size; the learning rate may have to follow.
Sources
    TheDeepChecker (loss reduction), Ben Braiek and Khomh, TOSEM 2022; documentation of `reduction` in
    PyTorch and Keras.
"""

import statistics
from itertools import pairwise

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
from reenact.faults.facts.places import optimizer_name
from reenact.faults.facts.series import learned
from reenact.faults.fixes.outputs import mean_over_rows

ADAPTIVE = (
    "adadelta",
    "adagrad",
    "adam",
    "adamax",
    "adamw",
    "lion",
    "nadam",
    "radam",
    "rmsprop",
)
FEWEST = 5
CLOSE = 0.3
FAULT = Fault(
    code="OU04",
    name="wrong-loss-reduction",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "RE025",
    "wrong-reduction",
    "reenact",
    needs=Needs.GRAPH,
    observes=Observes.GRAPH,
    why="Steps grow with the batch, so that no learning rate suits two batch sizes.",
    study=FaultType.LCH,
    confidence=0.65,
)
def wrong_reduction(detector: Detector, evidence: Evidence) -> Findings:
    """The loss adds up over the rows of a batch instead of taking their mean.

    TheDeepChecker (loss reduction), Ben Braiek and Khomh, TOSEM 2022; documentation of `reduction`
    in PyTorch and Keras.
    """
    loss = evidence.loss
    if loss is None or loss.settings.get("reduction") != "sum" or loss.settings.get("by_hand"):
        return
    # Optimisers that divide by the size of past gradients do not see their scale.
    adaptive = optimizer_name(evidence) in ADAPTIVE
    sure = 0.35 if adaptive or learned(evidence) else None
    yield detector.finding(
        evidence,
        f"{loss.name} with reduction sum",
        kind=Kind.LOSS,
        fixes=mean_over_rows(evidence),
        confidence=sure,
    )


@FAULT.detector(
    "TC003",
    "loss-grows-with-batch",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="The size of a step then depends on the size of the batch.",
    study=FaultType.LCH,
    confidence=0.7,
)
def loss_grows_with_batch(detector: Detector, evidence: Evidence) -> Findings:
    """Batches of twice the rows have twice the loss.

    {paper}, loss reduction. The paper doubles a batch five times before training; here batches of
    different sizes of the watched run are compared.
    """
    if evidence.optimizers > 1:
        return
    steps = evidence.watched.steps
    pairs = []
    for before, after in pairwise(zip(steps["batch_size"], steps["loss"], strict=True)):
        large = max(before, after)
        small = min(before, after)
        if small[0] > 0 and large[0] >= 2 * small[0] and small[1] > 0 and large[1] > 0:
            pairs.append(
                (
                    large[0] / small[0],
                    large[1] / small[1],
                )
            )
    if len(pairs) < FEWEST:
        return
    rows, loss = (statistics.median(values) for values in zip(*pairs, strict=True))
    if rows >= 2 and abs(loss / rows - 1) < CLOSE:
        saw = f"batches with {rows:.1f} times the rows have {loss:.1f} times the loss"
        yield detector.finding(evidence, saw, kind=Kind.LOSS, fixes=mean_over_rows(evidence))
