"""NL016 decreasing-window

What
    A later convolution has a smaller window than an earlier one.
Why
    NeuraLint advises to begin with small windows and to let them grow, as small structures make up larger
    ones.
Symptom
    None that can be relied on: well-known networks begin with a large window on purpose.
Example
    from torch import nn

    model = nn.Sequential(
        nn.Conv2d(1, 4, 7),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(4, 8, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(8, 3),
    )
Instead
    -     nn.Conv2d(1, 4, 7),
    +     nn.Conv2d(1, 4, 3),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f016 of the release. Windows of one place, which mix channels only, are left out.
"""

from itertools import pairwise

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule, Severity, Status
from reenact.rules.neuralint._layers import convolutions, window


class DecreasingWindow(Rule):
    code, name, family, fault = "NL016", "decreasing-window", "neuralint", Fault.LCF
    needs, status, severity, confidence = Needs.SOURCE, Status.PREVIEW, Severity.NOTE, 0.1
    why = "Windows usually stay equal or grow with depth."

    def check(self, evidence: Evidence) -> Findings:
        for first, second in pairwise(convolutions(evidence)):
            one, two = window(first), window(second)
            if one is not None and two is not None and 1 < two < one:
                saw = f"{second.name} has a window of {two} after {one} in {first.name}"
                yield self.finding(evidence, saw, layer=second, kind=Kind.KERNEL_SIZE, values=(one,))
