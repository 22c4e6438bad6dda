"""NL001 missing-reshape

What
    A layer passes on a tensor of another rank than the next one takes, with nothing between them that
    changes the rank.
Why
    A recurrent layer reads rows of steps and a convolution reads maps; given one vector a row they have
    nothing to walk along.
Symptom
    The program ends with a shape error when the model is built or in its first step.
Example
    import keras

    model = keras.Sequential([
        keras.layers.Input((12, 1)),
        keras.layers.LSTM(8),
        keras.layers.LSTM(8),
        keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
Instead
    -     keras.layers.LSTM(8),
    +     keras.layers.LSTM(8, return_sequences=True),
Fix safety
    Unsafe: whether steps are to be kept or folded is for the author to say.
Sources
    {paper}, f001 of the release. Ranks are followed from the text of a chain of layers, or read off a crash;
    branches are left alone.
"""

from reenact.rules import Certainty, Evidence, Fault, Findings, Needs, Rule, Severity
from reenact.rules.neuralint._shape import rank_of_type, ranked, trained, view_of


class MissingReshape(Rule):
    code, name, family, fault = "NL001", "missing-reshape", "neuralint", Fault.LRM
    needs, severity, confidence, certainty = Needs.SOURCE, Severity.ERROR, 0.85, Certainty.STRONG
    why = "The layer takes tensors of another rank than it is given."

    def check(self, evidence: Evidence) -> Findings:
        if trained(evidence):
            return
        for layer, taken, given in ranked(evidence):
            if taken is not None and given is not None and taken != given:
                saw = f"{layer.type} takes rank {taken} and is given rank {given}, counting the batch"
                yield self.finding(evidence, saw, layer=view_of(evidence, layer), place=layer.place)
        crash = evidence.crash
        if crash is not None and crash.layer and crash.layer_inputs:
            rank, shape = rank_of_type(crash.layer), crash.layer_inputs[0].shape
            if rank is not None and len(shape) not in (rank, rank - 1):
                saw = f"{crash.layer} takes rank {rank} and was given {shape}"
                yield self.finding(evidence, saw, place=crash.layer_place or crash.place, confidence=0.95)
