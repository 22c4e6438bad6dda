"""NL016 decreasing-window."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from reenact.rules import Evidence, Fault, Finding, Kind, Needs, Rule, Severity, Status
from reenact.rules.neuralint._numbers import convolutions, window


class DecreasingWindow(Rule):
    """NL016 decreasing-window

    What
        A later convolution has a smaller window than an earlier one.
    Why
        NeuraLint advises to begin with small windows and to let them grow, as small structures make up larger
        ones.
    Symptom
        None that can be relied on: well-known networks begin with a large window on purpose.
    Example
        import torch
        from torch import nn
        from reenact.testing.toys import images

        x, y = map(torch.from_numpy, images())
        model = nn.Sequential(
            nn.Conv2d(1, 4, 5),
            nn.ReLU(),
            nn.Conv2d(4, 8, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(32, 3),
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
        for epoch in range(20):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    Instead
        import torch
        from torch import nn
        from reenact.testing.toys import images

        x, y = map(torch.from_numpy, images())
        model = nn.Sequential(
            nn.Conv2d(1, 4, 3),
            nn.ReLU(),
            nn.Conv2d(4, 8, 3),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(128, 3),
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
        for epoch in range(20):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
    Fix safety
        Unsafe: the network becomes another one and must be trained anew.
    Sources
        Nikanjam, Ben Braiek, Morovati and Khomh, "Automatic Fault Detection for Deep Learning Programs Using
        Graph Transformations" (NeuraLint), TOSEM 2021, f016 of the release. Windows of one place, which mix
        channels only, are left out.
    """

    code, name, family, fault = "NL016", "decreasing-window", "neuralint", Fault.LCF
    needs = Needs.SOURCE
    status = Status.PREVIEW
    severity = Severity.NOTE
    confidence = 0.1
    why = "Windows usually stay equal or grow with depth."

    def check(self, evidence: Evidence) -> Iterator[Finding]:
        for first, second in pairwise(convolutions(evidence)):
            one, two = window(first), window(second)
            if one is not None and two is not None and 1 < two < one:
                saw = f"{second.name} has a window of {two} after {one} in {first.name}"
                yield self.finding(evidence, saw, layer=second, kind=Kind.KERNEL_SIZE, values=(one,))
