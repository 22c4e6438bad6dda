"""AT003 dying-relu

What
    The gradient is exactly zero for at least 70 percent of all weights of a network with ReLUs, while no
    epoch reached an accuracy of 0.6. For a regression the share of the first loss that is gone stands for
    the accuracy.
Why
    A ReLU that is never positive passes no gradient, and cannot come back.
Symptom
    Accuracy stays at chance from some step on.
Example
    import torch
    from torch import nn
    from reenact.testing.toys import curve

    x, y = map(torch.from_numpy, curve())
    y = y - 4
    model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1), nn.ReLU())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
Instead
    - model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1), nn.ReLU())
    + model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
Fix safety
    Unsafe: the repair makes another training.
Sources
    {paper}. Embeddings do not count: most of their gradient is zero by nature. The first repairs are another
    activation in all hidden layers, then normalisation and initial values.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.autotrainer._features import everywhere, gradient_trouble, zero_gradients
from reenact.rules.measured import inputs_scaled, update_ratios

LARGEST_STEP = 0.1
UNSURE = 0.3
"""Where raw inputs or large steps are the likelier killers."""


class DyingRelu(Rule):
    code, name, family, fault = "AT003", "dying-relu", "autotrainer", Fault.ACH
    needs, severity, confidence = Needs.TRACE, Severity.ERROR, 0.45
    why = "A ReLU that is never positive passes no gradient."

    def check(self, evidence: Evidence) -> Findings:
        share = zero_gradients(evidence)
        if share is None or gradient_trouble(evidence) != "dying":
            return
        saw = f"gradient exactly zero for {share:.0%} of the weights"
        layer = next(layer for layer in evidence.weighted if layer.activation == "relu")
        kind, cures = Kind.ACTIVATION, everywhere(evidence, "selu", "leaky_relu", "elu")
        pushed = max(update_ratios(evidence).values(), default=0.0) > LARGEST_STEP
        sure = UNSURE if pushed or inputs_scaled(evidence) is False else self.confidence
        yield self.finding(evidence, saw, layer=layer, kind=kind, suggestions=cures, confidence=sure)
