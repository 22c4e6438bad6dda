"""UM008 missing-activation

What
    A hidden layer has no non-linear activation.
Why
    Linear layers in a row are one linear layer, however many there are.
Symptom
    The model learns what a linear one would, and no more.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16),
        keras.layers.Dense(16),
        keras.layers.Dense(3, activation="softmax"),
    ])
Instead
    -     keras.layers.Dense(16),
    -     keras.layers.Dense(16),
    +     keras.layers.Dense(16, activation="relu"),
    +     keras.layers.Dense(16, activation="relu"),
Fix safety
    Unsafe: the network becomes another one and must be trained again.
Sources
    {paper}. The release looks at the activation a layer was given, and so misses one that follows as a layer
    of its own and complains of linear projections; here what lies between two layers is looked at.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.neuralint._layers import unbent


class MissingActivation(Rule):
    code, name, family, fault = "UM008", "missing-activation", "umlaut", Fault.ARM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.8, Certainty.STRONG
    why = "Without a bend between them two layers can do no more than one."

    def check(self, evidence: Evidence) -> Findings:
        for layer, taker, doubtful in unbent(evidence):
            kind, sure = Kind.ACTIVATION, 0.4 if doubtful else self.confidence
            saw = f"{layer.name} feeds {taker.name} without an activation"
            yield self.finding(evidence, saw, layer=layer, kind=kind, values=("relu",), confidence=sure)
