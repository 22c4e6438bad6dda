"""NL009 missing-non-linearity

What
    A hidden dense or convolution layer passes its output on to the next such layer without a non-linear
    function between them.
Why
    Two linear maps in a row are one linear map: the layer adds weights and no power.
Symptom
    The network does no better than a smaller one; it cannot bend its boundary between classes.
Example
    from torch import nn

    model = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 3))
Instead
    - model = nn.Sequential(nn.Linear(8, 32), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 3))
    + model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 3))
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}, f009 of the release. Residual sums, attention projections and factored convolutions, which are
    linear on purpose, are left alone; a waist such as the code of an autoencoder is reported with less
    confidence.
"""

from dataclasses import replace

from reenact.rules import Evidence, Fault, Findings, Kind, Needs, Rule
from reenact.rules.neuralint._layers import is_keras, unbent
from reenact.rules.own._lines import pass_place


class MissingNonLinearity(Rule):
    code, name, family, fault = "NL009", "missing-non-linearity", "neuralint", Fault.ARM
    needs, confidence = Needs.SOURCE, 0.8
    why = "Two linear layers in a row can learn no more than one."

    def check(self, evidence: Evidence) -> Findings:
        values = ("relu", "tanh") if is_keras(evidence) else ("relu", "leaky_relu", "tanh")
        for layer, taker, doubtful in unbent(evidence):
            confidence = 0.4 if doubtful else self.confidence
            saw = f"nothing bends what {layer.name} gives to {taker.name}"
            kind, place = Kind.ACTIVATION, pass_place(evidence, layer)
            found = self.finding(evidence, saw, layer=layer, kind=kind, values=values, confidence=confidence)
            yield replace(found, place=place or found.place)
