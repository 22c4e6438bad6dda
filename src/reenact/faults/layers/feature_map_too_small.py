"""LY13 feature-map-too-small

What
    A convolution or pooling window is larger than the map it is laid on.
Why
    Every unpadded convolution and every pooling makes the map smaller, until there is no place left for
    the window.
Symptom
    The program ends when the model is built or in its first step, with a message about sizes.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import images

    x, y = map(torch.from_numpy, images())
    features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(8))
    model = nn.Sequential(features, nn.Flatten(), nn.Linear(36, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(8))
    + features = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2))
Fix safety
    Unsafe: a smaller window, padding or fewer layers make another network.
Sources
    Nikanjam et al., "NeuraLint", TOSEM 2021, f013 of the release.
"""

import re

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.shapes import other_rank_given

TOO_SMALL = re.compile(
    r"kernel size can't be greater than actual input|output size is too small|negative dimension "
    r"size"
    r"|output size.{0,40}(negative|zero or negative)|non-?positive|would be zero or negative",
    re.IGNORECASE | re.DOTALL,
)
FAULT = Fault(
    code="LY13",
    name="feature-map-too-small",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "NL013",
    "feature-space-too-small",
    "neuralint",
    needs=Needs.CRASH,
    observes=Observes.CRASH,
    why="There is no place in the map where the window fits.",
    study=FaultType.LCF,
    severity=Severity.ERROR,
    confidence=0.95,
    certainty=Certainty.PROOF,
)
def feature_space_too_small(detector: Detector, evidence: Evidence) -> Findings:
    """A convolution or pooling window is larger than the map it is laid on.

    {paper}, f013 of the release.
    """
    crash = evidence.crash
    if (
        crash is None
        or crash.facts.own
        or not TOO_SMALL.search(crash.message)
        or other_rank_given(evidence)
    ):
        return
    shape = f" with an input of shape {crash.layer_inputs[0].shape}" if crash.layer_inputs else ""
    saw = f"{crash.layer or 'the model'} failed{shape}: {crash.message.splitlines()[0][:160]}"
    yield detector.finding(
        evidence,
        saw,
        place=crash.layer_place or crash.place,
    )
