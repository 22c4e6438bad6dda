"""DL001 non-finite-layer-output."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Finding, LayerView, Needs, Rule, Severity
from reenact.rules.hits import first_hit
from reenact.rules.measured import first_bad, output_rows


class NonFiniteLayerOutput(Rule):
    """DL001 non-finite-layer-output

    What
        The output of a layer holds NaN or infinite values in a training step. The tool looks at every batch,
        this rule at every sampled step.
    Why
        Such a value spreads to everything behind it, to the loss and to all weights.
    Symptom
        The loss is NaN, or the predictions are.
    Example
        import torch
        from torch import nn
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs())
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=1e30)
        for epoch in range(10):
            for rows in torch.randperm(300).split(50):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimizer.step()
    Instead
        import torch
        from torch import nn
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs())
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for epoch in range(10):
            for rows in torch.randperm(300).split(50):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
                optimizer.step()
    Fix safety
        None is offered: the tool names the layer and the phase, not a cause.
    Sources
        Wardat, Le and Rajan, "DeepLocalize: Fault Localization for Deep Neural Networks", ICSE 2021. First
        symptom of its algorithm; the release tests the mean of the tensor, which is bad when one value is.
    """

    code, name, family = "DL001", "non-finite-layer-output", "deeplocalize"
    fault = None
    needs = Needs.TRACE
    severity = Severity.ERROR
    confidence = 0.95
    why = "A value that is no number spreads to the loss and to all weights."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        def bad(layer: LayerView) -> int | None:
            return first_bad(output_rows(evidence, layer), "bad_share")

        hit = first_hit(evidence.layers, [("output NaN or infinite", self.confidence, bad)])
        if hit is not None:
            yield self.finding(evidence, hit.saw, layer=hit.layer, step=hit.step)
