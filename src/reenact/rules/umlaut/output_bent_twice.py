"""UM009 output-bent-twice

What
    The last layer has an activation in front of a softmax, written or inside the loss.
Why
    A softmax wants numbers of either sign. After a ReLU no class can be ruled out, after a sigmoid or
    another softmax all classes are nearly alike.
Symptom
    The loss stops early and high; accuracy lags behind.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="relu"),
        keras.layers.Softmax(),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.Dense(3, activation="relu"),
    +     keras.layers.Dense(3),
Fix safety
    Unsafe: the outputs in front of the softmax change their range.
Sources
    {paper}. The release complains of any activation of the last layer, also of the sigmoid or softmax that
    the loss asks for.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Kind, LossFamily, Needs, Rule, Wanted
from reenact.rules.neuralint._output import bends, output_of


class OutputBentTwice(Rule):
    code, name, family, fault = "UM009", "output-bent-twice", "umlaut", Fault.AAL
    needs, confidence, certainty = Needs.SOURCE, 0.85, Certainty.STRONG
    why = "The first function takes away what the softmax needs to tell classes apart."

    def check(self, evidence: Evidence) -> Findings:
        out = output_of(evidence)
        if out is None:
            return
        words = list(bends(evidence, out.layer))
        if evidence.wanted_output is Wanted.LOGITS and words:
            words.append("the one in the loss")
        if len(words) < 2 or words[0] == "log_softmax" or evidence.loss_family is LossFamily.REGRESSION:
            return
        if words[-1] not in ("softmax", "log_softmax", "the one in the loss"):
            return
        saw = f"{' and then '.join(words[-2:])} behind {out.layer.name}"
        yield self.finding(evidence, saw, layer=out.layer, kind=Kind.ACTIVATION, values=("linear",))
