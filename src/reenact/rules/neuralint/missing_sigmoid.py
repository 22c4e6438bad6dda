"""NL012 missing-sigmoid

What
    A yes-or-no classifier is trained with a binary cross-entropy over probabilities, and its output is no
    sigmoid.
Why
    The loss takes the logarithm of numbers below 0 or above 1; they are clipped, and where they are
    clipped nothing is learned.
Symptom
    The loss jumps between a few large values; torch refuses to compute it.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((2,)),
        keras.layers.Dense(8, activation="relu"),
        keras.layers.Dense(1),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.Dense(1),
    +     keras.layers.Dense(1, activation="sigmoid"),
Fix safety
    Unsafe: outputs become probabilities; code that applies a sigmoid later must drop it.
Sources
    {paper}, f012 of the release. Losses that take logits are left alone.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, Needs, Rule, Severity
from reenact.rules.neuralint._output import lacks_sigmoid, output_of


class MissingSigmoid(Rule):
    code, name, family, fault = "NL012", "missing-sigmoid", "neuralint", Fault.ARM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.9, Certainty.STRONG
    why = "The loss wants a probability, and gets any number."

    def check(self, evidence: Evidence) -> Findings:
        out = output_of(evidence)
        if out is not None and lacks_sigmoid(evidence, out):
            saw = f"{evidence.loss_name} over the output of {out.layer.name} without a sigmoid"
            yield self.finding(evidence, saw, layer=out.layer, kind=Kind.ACTIVATION, values=("sigmoid",))
