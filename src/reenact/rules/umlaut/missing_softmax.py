"""UM007 missing-softmax

What
    A classifier ends without a softmax, and its loss takes probabilities.
Why
    Cross-entropy takes the logarithm of the probability of the right class; plain numbers are none.
Symptom
    The loss stalls at a value far from the logarithm of the number of classes, or is NaN.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.Dense(3),
    +     keras.layers.Dense(3, activation="softmax"),
Fix safety
    Unsafe: outputs become probabilities; with `from_logits=True` they stay logits instead.
Sources
    {paper}. The release looks for the word in the name of the last layer, and so complains of nearly every
    model that has a softmax, of sigmoid classifiers and of regressions; here loss, task and last function are
    looked at.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.neuralint._output import lacks_softmax, output_of


class MissingSoftmax(Rule):
    code, name, family, fault = "UM007", "missing-softmax", "umlaut", Fault.ARM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "The loss takes logarithms of probabilities, and the outputs are none."

    def check(self, evidence: Evidence) -> Findings:
        out = output_of(evidence)
        if out is None or not lacks_softmax(evidence, out):
            return
        saw = f"the last layer {out.layer.name} gives plain numbers to {evidence.loss_name}"
        values = (evidence.wanted_output.value,)
        yield self.finding(evidence, saw, layer=out.layer, kind=Kind.ACTIVATION, values=values)
