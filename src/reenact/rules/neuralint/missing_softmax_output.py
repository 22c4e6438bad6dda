"""NL008 missing-softmax-output

What
    A classifier is trained with a cross-entropy over probabilities, and its output is no softmax.
Why
    The loss takes the logarithm of numbers that do not lie between 0 and 1 or do not add up to one: they
    are clipped, and what is learned has little to do with the classes.
Symptom
    The loss starts far from the logarithm of the number of classes, stalls, or becomes NaN or negative.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((20,)),
        keras.layers.Dense(32, activation="relu"),
        keras.layers.Dense(5),
    ])
    model.compile("adam", "categorical_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.Dense(5),
    +     keras.layers.Dense(5, activation="softmax"),
Fix safety
    Unsafe: outputs become probabilities; code that applies a softmax later must drop it.
Sources
    {paper}, f008 of the release. Losses that bend logits themselves (`from_logits=True`, `CrossEntropyLoss`)
    are fine as they are, and so is a softmax that stands as a layer or function of its own.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.neuralint._output import lacks_softmax, output_of


class MissingSoftmax(Rule):
    code, name, family, fault = "NL008", "missing-softmax-output", "neuralint", Fault.ARM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "The loss wants probabilities that add up to one, and gets plain numbers."

    def check(self, evidence: Evidence) -> Findings:
        out = output_of(evidence)
        if out is None or not lacks_softmax(evidence, out):
            return
        saw = f"{evidence.loss_name} over {out.width or 'some'} outputs of {out.layer.name} without a softmax"
        values = (evidence.wanted_output.value,)
        yield self.finding(evidence, saw, layer=out.layer, kind=Kind.ACTIVATION, values=values)
