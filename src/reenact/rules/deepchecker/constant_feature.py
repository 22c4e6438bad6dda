"""TC001 constant-feature."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Fault, Finding, Needs, Rule, Severity


class ConstantFeature(Rule):
    """TC001 constant-feature

    What
        A column of the inputs has the same value in every row.
    Why
        It tells nothing about any label; dividing by its deviation, as standardising does, makes NaN.
        Pictures have such pixels at their edges, and are told with little confidence.
    Symptom
        None, or NaN after scaling.
    Example
        import torch
        from torch import nn
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs(spread=2.0))
        x[:, 0] = 1.0
        model = nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3))
        for layer in (model[0], model[2], model[4]):
            nn.init.normal_(layer.weight, std=4.0)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
        for epoch in range(6):
            for start in range(0, 300, 16):
                optimizer.zero_grad()
                nn.functional.cross_entropy(model(x[start : start + 16]), y[start : start + 16]).backward()
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
        Unsafe: the model becomes narrower, and data must be prepared alike wherever it is used.
    Sources
        Ben Braiek and Khomh, "Testing Feedforward Neural Networks Training Programs" (TheDeepChecker), TOSEM
        2022, pre-training checks of the data.
    """

    code, name, family, fault = "TC001", "constant-feature", "deepchecker", Fault.CPP
    needs = Needs.GRAPH
    severity = Severity.NOTE
    confidence = 0.35
    why = "What never changes tells nothing, and scaling it divides by zero."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        inputs = evidence.inputs
        if inputs is None or not inputs.constant_features or inputs.rows_seen < 20:
            return
        picture = len(inputs.shape) > 2 or (inputs.shape[-1] or 0) > 200
        yield self.finding(
            evidence,
            f"{inputs.constant_features} constant columns in {inputs.rows_seen} rows of inputs",
            confidence=0.1 if picture else None,
        )
