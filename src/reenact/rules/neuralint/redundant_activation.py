"""NL003 redundant-activation

What
    Two non-linear functions follow one layer before the next layer with weights.
Why
    The second function bends what the first has already bent: a ReLU after a ReLU does nothing, a sigmoid
    or softmax after a ReLU never sees a negative number.
Symptom
    Learning is slower than it should be, or stalls; outputs use part of their range only.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Sigmoid(), nn.Linear(16, 3))
Instead
    - model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Sigmoid(), nn.Linear(16, 3))
    + model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Unsafe: taking out one of the two changes what is computed, unless both are the same ReLU.
Sources
    {paper}, f003 of the release.
"""

from dataclasses import replace

from reenact.rules import Evidence, Fault, Findings, Kind, LayerView, Needs, Rule, suggest
from reenact.rules.neuralint._layers import apart, is_keras, rows, until_weights


class RedundantActivation(Rule):
    code, name, family, fault = "NL003", "redundant-activation", "neuralint", Fault.AAL
    needs, confidence = Needs.SOURCE, 0.75
    why = "The second function sees only what the first left over."

    def check(self, evidence: Evidence) -> Findings:
        for row in rows(evidence):
            for number, layer in enumerate(row):
                if layer.weighted and layer.family not in ("recurrent", "embedding"):
                    yield from self._one(evidence, layer, until_weights(row, number))

    def _one(self, evidence: Evidence, layer: LayerView, behind: tuple[LayerView, ...]) -> Findings:
        flat = (None, "linear", "identity")
        bending = [part for part in (layer, *behind) if part.own_activation not in flat]
        if len(bending) < 2 or any(part.family == "recurrent" for part in bending):
            return
        words = " and ".join(str(part.own_activation) for part in bending)
        # Nothing unseen, such as an addition in `forward`, can stand between parts of a `Sequential`.
        sure = is_keras(evidence) or apart(layer, bending[1]) > 0
        spare = bending[-2] if layer.role == "output" else bending[1]
        param = evidence.hyperparameter(Kind.ACTIVATION, spare)
        saw, cures = f"{words} in a row behind {layer.name}", suggest(param, ("linear",)) if param else ()
        found = self.finding(evidence, saw, layer=layer, place=spare.place, confidence=None if sure else 0.35)
        yield replace(found, suggestions=tuple(cures))
