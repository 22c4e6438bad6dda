"""LY03 vanishing-gradients

What
    The gradient of the first kernel is below a thousandth of that of the last, and below 1e-4, while no
    epoch reached an accuracy of 0.6. For a regression the share of the first loss that is gone stands for
    the accuracy.
Why
    Flat activations shrink the gradient layer by layer, until the first layers learn nothing.
Symptom
    Accuracy stays at chance; the last layers move, the first do not.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import blobs

    x, y = map(torch.from_numpy, blobs())
    hidden = [part for _ in range(12) for part in (nn.Linear(8, 8), nn.Sigmoid())]
    model = nn.Sequential(*hidden, nn.Linear(8, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
Instead
    - hidden = [part for _ in range(12) for part in (nn.Linear(8, 8), nn.Sigmoid())]
    + hidden = [part for _ in range(1) for part in (nn.Linear(8, 8), nn.Sigmoid())]
Fix safety
    Unsafe: the repair makes another training.
Sources
    Zhang et al., "AutoTrainer", ICSE 2021. Norms are medians over the later half of the sampled steps,
    where the tool looks every third epoch. The first repair is another activation in all hidden layers.
"""

from reenact.faults import (
    Category,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Findings,
    Kind,
    LayerView,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.advice import for_vanishing, report
from reenact.faults.facts.measured import first_hit, kernel_rows, loss_halved
from reenact.faults.facts.progress import everywhere, gradient_ends, gradient_trouble

FLAT = ("sigmoid", "tanh", "softmax")
UNSURE = 0.4
SMALLEST = 1e-7
FAULT = Fault(
    code="LY03",
    name="vanishing-gradients",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "AT001",
    "vanishing-towards-input",
    "autotrainer",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="Layers that no gradient reaches do not learn.",
    study=FaultType.ACH,
    severity=Severity.ERROR,
    confidence=0.75,
)
def vanishing_towards_input(detector: Detector, evidence: Evidence) -> Findings:
    """The gradient of the first kernel is below a thousandth of that of the last, and below 1e-4,
    while no epoch reached an accuracy of 0.6. For a regression the share of the first loss that is
    gone stands for the accuracy.

    {paper}. Norms are medians over the later half of the sampled steps, where the tool looks every
    third epoch. The first repair is another activation in all hidden layers.
    """
    ends = gradient_ends(evidence)
    if ends is None or gradient_trouble(evidence) != "vanishing":
        return
    saw = f"gradient norm {ends[0]:.3g} in the first layer, {ends[1]:.3g} in the last"
    first = next(
        (layer for layer in evidence.weighted if layer.activation in FLAT),
        evidence.weighted[0],
    )
    kind = Kind.ACTIVATION
    cures = everywhere(evidence, "selu", "relu")
    # Gradients that teach the model one batch by its inputs do reach its first layers.
    sure = (
        detector.confidence if first.activation in FLAT and not _sees_inputs(evidence) else UNSURE
    )
    yield detector.finding(
        evidence,
        saw,
        layer=first,
        kind=kind,
        suggestions=cures,
        confidence=sure,
    )


@FAULT.detector(
    "DD010",
    "vanishing-gradient",
    "deepdiagnosis",
    needs=Needs.TRACE,
    observes=Observes.GRADIENTS,
    why="Layers that no gradient reaches do not learn.",
    severity=Severity.ERROR,
    confidence=0.75,
)
def vanishing_gradient(detector: Detector, evidence: Evidence) -> Findings:
    """The gradient of a layer's weights is below 1e-7 on average, in half of the steps looked at or
    more, and the loss has not fallen to half. The tool looks at the end of every epoch on one
    batch, this rule at the sampled steps.

    {paper}. Symptom "vanishing gradient", layers from back to front. The release looks at layers
    named `dense`; here embeddings are left out, whose gradient is mostly zero by nature.
    """
    if loss_halved(evidence):
        return

    def faint(at: Evidence, layer: LayerView) -> int | None:
        rows = kernel_rows(at, layer)
        weak = rows["grad_mean_abs"] < SMALLEST
        if len(rows) and 2 * weak.sum() >= len(rows):
            return int(rows["step"][weak.argmax()])
        return None

    layers = [layer for layer in reversed(evidence.weighted) if layer.family != "embedding"]
    symptom = (
        f"mean weight gradient below {SMALLEST:g}",
        detector.confidence,
        faint,
    )
    hit = first_hit(evidence, layers, symptom)
    if hit is not None:
        yield report(
            detector,
            evidence,
            hit.saw,
            for_vanishing(evidence, hit.layer),
            hit.step,
        )


def _sees_inputs(evidence: Evidence) -> bool:
    """Whether one batch was learned, and was not with its inputs set to zero."""
    alone = evidence.experiments.one_batch
    if alone is None or not alone.zeroed_losses or not alone.losses:
        return False
    first = alone.losses[0]
    left = alone.losses[-1]
    blind = alone.zeroed_losses[-1]
    return left < 0.3 * first and blind > 2 * left
