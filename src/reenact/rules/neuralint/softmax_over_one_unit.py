"""NL017 softmax-over-one-unit

What
    The output layer has one unit and a softmax.
Why
    A softmax makes its outputs add up to one; a single output is therefore always one.
Symptom
    Predictions are 1 for every row, accuracy is the share of ones, and no weight ever changes.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((2,)),
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dense(1, activation="softmax"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.Dense(1, activation="softmax"),
    +     keras.layers.Dense(1, activation="sigmoid"),
Fix safety
    Safe: what is there cannot learn.
Sources
    {paper}, f017 of the release.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity, TaskType
from reenact.rules.neuralint._output import bends


class SoftmaxOverOneUnit(Rule):
    code, name, family, fault = "NL017", "softmax-over-one-unit", "neuralint", Fault.ACH
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.97, Certainty.PROOF
    why = "A softmax over a single unit is one whatever the weights are."

    def check(self, evidence: Evidence) -> Findings:
        for layer in evidence.layers:
            if layer.role != "output" or layer.family != "dense" or layer.width != 1:
                continue
            words = bends(evidence, layer)
            if words and words[-1] in ("softmax", "log_softmax"):
                values = ("linear",) if evidence.task is TaskType.REGRESSION else ("sigmoid", "linear")
                saw = f"{words[-1]} over the one unit of {layer.name}"
                yield self.finding(evidence, saw, layer=layer, kind=Kind.ACTIVATION, values=values)
