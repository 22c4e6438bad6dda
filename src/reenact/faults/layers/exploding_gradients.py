"""LY04 exploding-gradients

What
    The loss, a weight or a gradient is NaN or infinite, or the loss of a classifier is a thousand or
    more; or the gradient of the first kernel is more than seventy times that of the last, while no epoch
    reached an accuracy of 0.6. For a regression the share of the first loss that is gone stands for the
    accuracy.
Why
    Gradients grow from layer to layer until the steps overshoot.
Symptom
    The loss jumps, grows or becomes NaN.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    model = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    for layer in model[::2]:
        nn.init.normal_(layer.weight, std=5.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(30):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    -     nn.init.normal_(layer.weight, std=5.0)
    +     nn.init.kaiming_normal_(layer.weight)
Fix safety
    Unsafe: the repair makes another training.
Sources
    Zhang et al., "AutoTrainer", ICSE 2021. The first repairs are another activation in all hidden layers
    and clipped gradients; where single steps are larger than a tenth of the weights the learning rate is
    named instead, which the tool never changes for this problem.
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Finding,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
    suggest,
)
from reenact.faults.facts.measured import largest_step
from reenact.faults.facts.progress import (
    everywhere,
    gradient_ends,
    gradient_trouble,
    lost,
)

LARGEST_STEP = 0.1
UNSURE = 0.45
FAULT = Fault(
    code="LY04",
    name="exploding-gradients",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "AT002",
    "exploding-gradient",
    "autotrainer",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="Gradients explode: the steps grow without bound.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.85,
)
def exploding_gradient(detector: Detector, evidence: Evidence) -> Findings:
    """The loss, a weight or a gradient is NaN or infinite, or the loss of a classifier is a
    thousand or more; or the gradient of the first kernel is more than seventy times that of the
    last, while no epoch reached an accuracy of 0.6. For a regression the share of the first loss
    that is gone stands for the accuracy.

    {paper}. The first repairs are another activation in all hidden layers and clipped gradients;
    where single steps are larger than a tenth of the weights the learning rate is named instead,
    which the tool never changes for this problem.
    """
    if evidence.inputs is not None and evidence.inputs.nan_share > 0:
        return
    broken = lost(evidence)
    ends = gradient_ends(evidence)
    if broken is not None:
        yield _cured(
            detector,
            evidence,
            broken[0],
            broken[1],
        )
    elif ends is not None and gradient_trouble(evidence) == "exploding":
        saw = f"gradient norm {ends[0]:.3g} in the first layer, {ends[1]:.3g} in the last"
        yield _cured(detector, evidence, saw, None)


def _cured(
    detector: Detector,
    evidence: Evidence,
    saw: str,
    step: int | None,
) -> Finding:
    largest = largest_step(evidence, step)
    rate = evidence.learning_rate
    if largest > LARGEST_STEP:
        values = tuple(value for value in (0.001, 0.01, 0.0001) if rate is None or value < rate)
        saw = f"{saw}; a step moves a layer by {largest:.3g} of its weights"
        kind = Kind.LEARNING_RATE
        return detector.finding(
            evidence,
            saw,
            kind=kind,
            values=values,
            study=FaultType.HLR,
            step=step,
        )
    hidden = next(
        (layer for layer in evidence.weighted if layer.role == "hidden"),
        None,
    )
    clip = evidence.hyperparameter(Kind.GRADIENT_CLIP)
    clips = suggest(clip, (1.0, 5.0)) if clip is not None else ()
    cures = (*everywhere(evidence, "selu", "relu"), *clips)
    return detector.finding(
        evidence,
        saw,
        layer=hidden,
        kind=Kind.ACTIVATION,
        suggestions=cures,
        confidence=UNSURE,
        step=step,
    )
