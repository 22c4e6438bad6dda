"""UM010 dropout-too-high

What
    A dropout layer drops more than half of what it is given.
Why
    What is left is too little to learn from: units see another, thin network at every step.
Symptom
    Training accuracy stays well below that of validation; learning is slow.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.8), nn.Linear(32, 3))
Instead
    - model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.8), nn.Linear(32, 3))
    + model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 3))
Fix safety
    Unsafe: less regularisation may overfit.
Sources
    {paper}; the bound is that of the release.
"""

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.neuralint._layers import is_dropout

MOST = 0.5


class DropoutTooHigh(Rule):
    code, name, family, fault = "UM010", "dropout-too-high", "umlaut", Fault.RCD
    needs, confidence = Needs.SOURCE, 0.55
    why = "Most of the signal is thrown away at every step; 0.2 to 0.5 is usual."

    def check(self, evidence: Evidence) -> Findings:
        for layer in evidence.layers:
            rate = layer.settings.get("rate", layer.settings.get("p"))
            if not is_dropout(layer) or not isinstance(rate, int | float) or rate <= MOST:
                continue
            confidence = 0.8 if rate >= 0.75 else self.confidence
            saw, kind, values = f"{layer.name} drops {rate:.0%}", Kind.DROPOUT, (0.2, 0.3, 0.5)
            yield self.finding(evidence, saw, layer=layer, kind=kind, values=values, confidence=confidence)
