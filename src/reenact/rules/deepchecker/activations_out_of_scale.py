"""TC008 activations-out-of-scale."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from reenact.rules import Evidence, Finding, Needs, Rule, Severity, Status
from reenact.rules.own._series import finite

LOW, HIGH = 0.3, 2.0
"""The lower bound is that of half a unit after relu has cut the signal."""


class ActivationsOutOfScale(Rule):
    """TC008 activations-out-of-scale

    What
        The outputs of a hidden activation have a deviation outside 0.5 to 2.
    Why
        Signals that grow or shrink from layer to layer end in saturation or in nothing. Healthy models leave
        these bounds often, so the rule is only asked by name.
    Symptom
        Gradients that grow or shrink from layer to layer.
    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs(310, spread=2.0))
        loader = DataLoader(TensorDataset(x[:250], y[:250]), batch_size=16, shuffle=True)
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = torch.optim.Adam(model.parameters(), lr=3.0)
        for epoch in range(12):
            for rows, classes in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(rows), classes).backward()
                optimizer.step()
    Instead
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs(310, spread=2.0))
        loader = DataLoader(TensorDataset(x[:250], y[:250]), batch_size=16, shuffle=True)
        norm, drop = nn.BatchNorm1d(16), nn.Dropout(0.1)
        model = nn.Sequential(nn.Linear(8, 16), norm, nn.ReLU(), drop, nn.Linear(16, 3))
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        for epoch in range(12):
            model.train()
            for rows, classes in loader:
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(rows), classes).backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                print("val_accuracy", (model(x[250:]).argmax(1) == y[250:]).float().mean().item())
    Fix safety
        Unsafe: another start or a normalisation is another training.
    Sources
        Ben Braiek and Khomh, "Testing Feedforward Neural Networks Training Programs" (TheDeepChecker), TOSEM
        2022, scale of activations, bounds 0.5 and 2. The paper tests variances; here the median over the run
        is compared.
    """

    code, name, family, fault = "TC008", "activations-out-of-scale", "deepchecker", None
    needs = Needs.TRACE
    severity = Severity.NOTE
    status = Status.PREVIEW
    confidence = 0.15
    why = "Signals that grow or shrink from layer to layer saturate or vanish."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        assert evidence.trace is not None
        for layer in evidence.layers:
            if not layer.own_activation or layer.role == "output" or layer is evidence.output_activation:
                continue
            spreads = finite(list(evidence.trace.layer(layer.name, "std").values))
            middle = statistics.median(spreads) if spreads else 1.0
            if not LOW <= middle <= HIGH:
                saw = f"the outputs of {layer.name} have deviation {middle:.3g}"
                yield self.finding(evidence, saw, layer=layer)
