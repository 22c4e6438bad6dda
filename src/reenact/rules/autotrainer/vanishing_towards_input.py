"""AT001 vanishing-towards-input

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
    {paper}. Norms are medians over the later half of the sampled steps, where the tool looks every third
    epoch. The first repair is another activation in all hidden layers.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.autotrainer._features import everywhere, gradient_ends, gradient_trouble

FLAT = ("sigmoid", "tanh", "softmax")
UNSURE = 0.4


def _sees_inputs(evidence: Evidence) -> bool:
    """Whether one batch was learned, and was not with its inputs set to zero."""
    alone = evidence.experiments.one_batch
    if alone is None or not alone.zeroed_losses or not alone.losses:
        return False
    first, left, blind = alone.losses[0], alone.losses[-1], alone.zeroed_losses[-1]
    return left < 0.3 * first and blind > 2 * left


class VanishingTowardsInput(Rule):
    code, name, family, fault = "AT001", "vanishing-towards-input", "autotrainer", Fault.ACH
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.75
    why = "Layers that no gradient reaches do not learn."

    def check(self, evidence: Evidence) -> Findings:
        ends = gradient_ends(evidence)
        if ends is None or gradient_trouble(evidence) != "vanishing":
            return
        saw = f"gradient norm {ends[0]:.3g} in the first layer, {ends[1]:.3g} in the last"
        first = next((layer for layer in evidence.weighted if layer.activation in FLAT), evidence.weighted[0])
        kind, cures = Kind.ACTIVATION, everywhere(evidence, "selu", "relu")
        # Gradients that teach the model one batch by its inputs do reach its first layers.
        sure = self.confidence if first.activation in FLAT and not _sees_inputs(evidence) else UNSURE
        yield self.finding(evidence, saw, layer=first, kind=kind, suggestions=cures, confidence=sure)
