"""NL020 wrong-output-for-loss

What
    The loss is over probabilities, and the output is bent by another function than the one that makes
    them; or the number of outputs does not fit the loss.
Why
    Cross-entropy over classes needs a softmax over at least two units, binary cross-entropy a sigmoid an
    output. A ReLU or tanh gives numbers whose logarithm is clipped; a softmax under a binary loss counts
    each class as a question of its own.
Symptom
    The loss stalls or is NaN; a reported accuracy that is far too good, because it is counted an output.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((8,)),
        keras.layers.Dense(16, activation="relu"),
        keras.layers.Dense(3, activation="relu"),
    ])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.Dense(3, activation="relu"),
    +     keras.layers.Dense(3, activation="softmax"),
Fix safety
    Unsafe: outputs mean something else afterwards.
Sources
    {paper}, f020 of the release. The release also blames several sigmoid outputs under a binary loss, which
    is right for labels of several columns and is left alone here.
"""

from reenact.rules import Certainty, Evidence, Fault, Finding, Findings, Kind, Needs, Rule, Severity, Wanted
from reenact.rules.neuralint._output import Output, output_of


class WrongOutputForLoss(Rule):
    code, name, family, fault = "NL020", "wrong-output-for-loss", "neuralint", Fault.ACH
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.85, Certainty.STRONG
    why = "The loss reads the output as probabilities, which this function does not give."

    def check(self, evidence: Evidence) -> Findings:
        out, wanted = output_of(evidence), evidence.wanted_output
        if out is None or out.bend is None:
            return
        if wanted is Wanted.SIGMOID:
            yield from self._binary(evidence, out)
        elif wanted is Wanted.SOFTMAX and out.width == 1:
            saw = f"{evidence.loss_name} over a single output of {out.layer.name}"
            loss = ("binary_crossentropy",)
            yield self.finding(evidence, saw, kind=Kind.LOSS, values=loss, fault=Fault.LCH)
        elif wanted in (Wanted.SOFTMAX, Wanted.LOG_SOFTMAX) and out.bend != wanted.value:
            yield self._bend(evidence, out, wanted.value)

    def _binary(self, evidence: Evidence, out: Output) -> Findings:
        if out.bend in ("sigmoid", "hard_sigmoid", "hardsigmoid"):
            return
        if out.bend != "softmax":
            yield self._bend(evidence, out, "sigmoid")
        elif out.width is not None and out.width > 1:
            saw = f"{evidence.loss_name} over a softmax of {out.width} classes"
            sure, loss = 0.75 if out.width > 2 else 0.35, ("categorical_crossentropy",)
            yield self.finding(evidence, saw, kind=Kind.LOSS, values=loss, fault=Fault.LCH, confidence=sure)

    def _bend(self, evidence: Evidence, out: Output, word: str) -> Finding:
        saw = f"{evidence.loss_name} is given a {out.bend} of {out.layer.name}"
        return self.finding(evidence, saw, layer=out.layer, kind=Kind.ACTIVATION, values=(word,))
