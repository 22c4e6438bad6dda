"""DA03 nan-in-inputs

What
    Inputs hold values that are not a number.
Why
    One NaN in a row makes every activation behind it, the loss and all gradients NaN, and after the step
    all weights.
Symptom
    The loss is NaN from the first batch that holds such a row.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    x[::50, 0] = torch.nan
    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
      x[::50, 0] = torch.nan
    + x = x.nan_to_num()
Fix safety
    Unsafe: the data changes, and with it what is learned; do the same to data that comes later.
Sources
    Schoop et al., "UMLAUT", CHI 2021. The release waits until the loss is NaN as well; here that makes
    the finding surer.
"""

import math

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
from reenact.faults.facts.input_values import training_inputs

FAULT = Fault(
    code="DA03",
    name="nan-in-inputs",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "UM004",
    "nan-in-input",
    "umlaut",
    needs=Needs.GRAPH,
    observes=Observes.DATA,
    why="NaN in, NaN out: one such value ruins all weights.",
    study=FaultType.CPP,
    severity=Severity.ERROR,
    confidence=0.97,
)
def nan_in_input(detector: Detector, evidence: Evidence) -> Findings:
    """Inputs hold values that are not a number.

    {paper}. The release waits until the loss is NaN as well; here that makes the finding surer.
    """
    for facts in training_inputs(evidence):
        if facts.nan_share > 0:
            losses = evidence.watched.losses.values
            lost = len(losses) > 0 and math.isnan(losses[-1])
            also = ", and so is the loss" if lost else ""
            yield detector.finding(
                evidence,
                f"{facts.nan_share:.2%} of the inputs are NaN{also}",
                kind=Kind.PREPROCESSING,
                place=evidence.non_finite_at,
                confidence=None if lost else 0.7,
                certainty=Certainty.PROOF if lost else Certainty.STRONG,
            )
            return
