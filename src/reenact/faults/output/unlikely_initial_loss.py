"""OU08 unlikely-initial-loss

What
    The loss of the first step is at least twice that of a model that knows nothing, or nearly zero.
Why
    Before training all classes should be about equally likely, which costs the logarithm of their number.
    Another first loss means weights that start too large, inputs that are not scaled, or a loss computed
    over the wrong axis.
Symptom
    A first loss of ten or more where about two was to be expected.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    nn.init.normal_(model[2].weight, std=8.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - nn.init.normal_(model[2].weight, std=8.0)
Fix safety
    There is nothing to change here: look for the finding that explains it.
Sources
    Ben Braiek and Khomh, "TheDeepChecker", TOSEM 2022, initial loss. The paper's bound, a deviation as
    large as the logarithm itself, is used as it stands; a rounding slack is not.
"""

import math

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    Findings,
    LossFamily,
    Needs,
    Observes,
)
from reenact.faults.facts.series import losses

FAULT = Fault(
    code="OU08",
    name="unlikely-initial-loss",
    category=Category.OUTPUT,
    page=__doc__,
)


@FAULT.detector(
    "TC002",
    "initial-loss-unlikely",
    "deepchecker",
    needs=Needs.TRACE,
    observes=Observes.LOSSES,
    why="A model that knows nothing yet should find all classes about equally likely.",
    confidence=0.5,
)
def initial_loss_unlikely(detector: Detector, evidence: Evidence) -> Findings:
    """The loss of the first step is at least twice that of a model that knows nothing, or nearly
    zero.

    {paper}, initial loss. The paper's bound, a deviation as large as the logarithm itself, is used
    as it stands; a rounding slack is not.
    """
    labels = evidence.labels
    known = losses(evidence)
    summed = evidence.loss is not None and evidence.loss.settings.get("reduction") == "sum"
    if evidence.loss_family is not LossFamily.CATEGORICAL or labels is None or not known or summed:
        return
    classes = max(
        labels.classes or 0,
        (evidence.output.width if evidence.output is not None else 0) or 0,
    )
    if classes < 2 or not math.isfinite(known[0]) or evidence.optimizers > 1:
        return
    expected = math.log(classes)
    if abs(known[0] - expected) >= expected:
        saw = f"first loss {known[0]:.3g} where {classes} classes make {expected:.3g} likely"
        yield detector.finding(evidence, saw, step=0)
