"""NL023 non-increasing-filters

What
    A later convolution has fewer filters than an earlier one.
Why
    As maps become smaller, more filters keep what they can tell; NeuraLint advises that the number never
    falls.
Symptom
    None that can be relied on: bottlenecks and decoders have fewer on purpose.
Example
    from torch import nn

    model = nn.Sequential(
        nn.Conv2d(1, 16, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 8, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )
Instead
    -     nn.Conv2d(1, 16, 3),
    +     nn.Conv2d(1, 4, 3),
    -     nn.Conv2d(16, 8, 3),
    +     nn.Conv2d(4, 8, 3),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f023 of the release.
"""

from itertools import pairwise

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import convolutions, filters


class NonIncreasingFilters(Rule):
    code, name, family, fault = "NL023", "non-increasing-filters", "neuralint", Fault.LCN
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.12
    why = "The number of filters usually grows as maps shrink."

    def check(self, evidence: Evidence) -> Findings:
        for first, second in pairwise(convolutions(evidence)):
            one, two = filters(first), filters(second)
            if one is not None and two is not None and two < one:
                saw = f"{second.name} has {two} filters after {one} in {first.name}"
                yield self.finding(evidence, saw, layer=second, kind=Kind.FILTERS, values=(one,))
