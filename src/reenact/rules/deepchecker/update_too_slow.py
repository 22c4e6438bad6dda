"""TC006 update-too-slow."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, Fault, Finding, Kind, Needs, Rule
from reenact.rules.deepchecker._ratios import ratios
from reenact.rules.own._places import usual_rates
from reenact.rules.own._series import learned

SMALLEST = -4.0


class UpdateTooSlow(Rule):
    """TC006 update-too-slow

    What
        A step changes the weights by less than a ten-thousandth of their size, step after step.
    Why
        At that pace weights stay near their random start however long the training.
    Symptom
        A loss that hardly moves.
    Example
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, TensorDataset
        from reenact.testing.toys import blobs

        x, y = map(torch.from_numpy, blobs(310, spread=2.0))
        loader = DataLoader(TensorDataset(x[:250], y[:250]), batch_size=16, shuffle=True)
        model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.00001)
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
        Unsafe: another learning rate is another training.
    Sources
        Ben Braiek and Khomh, "Testing Feedforward Neural Networks Training Programs" (TheDeepChecker), TOSEM
        2022, ratio of updates to weights, below 10^-4. At the end of a good training steps are small too: the
        first half of the run is looked at.
    """

    code, name, family, fault = "TC006", "update-too-slow", "deepchecker", Fault.HLR
    needs = Needs.TRACE
    confidence = 0.5
    why = "At that pace weights stay near their random start."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        found = ratios(evidence)
        slow = {name: ratio for name, ratio in found.items() if ratio < SMALLEST}
        if not slow or len(slow) < 0.5 * len(found) or learned(evidence):
            return
        name, ratio = min(slow.items(), key=lambda item: item[1])
        saw = f"{name} changes by {10**ratio:.1g} of its size in a step ({len(slow)} of {len(found)} tensors)"
        yield self.finding(evidence, saw, kind=Kind.LEARNING_RATE, values=usual_rates(evidence))
