"""LY12 missing-reshape-or-flatten

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
    Nikanjam et al., "NeuraLint", TOSEM 2021, f001 of the release. Ranks are followed from the text of a
    chain of layers, or read off a crash; branches are left alone.
"""

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    FaultType,
    Finding,
    Findings,
    Kind,
    Needs,
    Observes,
    Severity,
    Suggestion,
)
from reenact.faults.facts.shapes import (
    map_given,
    per_place,
    rank_of_type,
    ranked,
    trained,
    view_of,
)
from reenact.faults.fixes.drafting import offered
from reenact.faults.fixes.layers import flatten_before, give_back_sequences
from reenact.program.edit.change import Insert
from reenact.program.patch import Patch
from reenact.program.training.static_layer import StaticLayer

FAULT = Fault(
    code="LY12",
    name="missing-reshape-or-flatten",
    category=Category.LAYERS,
    page=__doc__,
)


@FAULT.detector(
    "NL001",
    "missing-reshape",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="The layer takes tensors of another rank than it is given.",
    study=FaultType.LRM,
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
)
def missing_reshape(detector: Detector, evidence: Evidence) -> Findings:
    """A layer passes on a tensor of another rank than the next one takes, with nothing between them
    that changes the rank.

    {paper}, f001 of the release. Ranks are followed from the text of a chain of layers, or read off
    a crash; branches are left alone.
    """
    if trained(evidence):
        return
    for layer, taken, given in ranked(evidence):
        if taken is not None and given is not None and taken != given:
            saw = f"{layer.type} takes rank {taken} and is given rank {given}, counting the batch"
            yield detector.finding(
                evidence,
                saw,
                fixes=offered(
                    give_back_sequences(evidence, layer.place),
                    flatten_before(evidence, layer.place),
                ),
                layer=view_of(evidence, layer),
                place=layer.place,
            )
    crash = evidence.crash
    if crash is not None and crash.layer and crash.layer_inputs:
        rank = rank_of_type(crash.layer)
        shape = crash.layer_inputs[0].shape
        if rank is not None and len(shape) not in (rank, rank - 1):
            saw = f"{crash.layer} takes rank {rank} and was given {shape}"
            yield detector.finding(
                evidence, saw, place=crash.layer_place or crash.place, confidence=0.95
            )


@FAULT.detector(
    "NL011",
    "missing-flatten",
    "neuralint",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="A dense layer over a map gives one answer for every place in it.",
    study=FaultType.LRM,
    severity=Severity.ERROR,
    confidence=0.8,
    certainty=Certainty.STRONG,
)
def missing_flatten(detector: Detector, evidence: Evidence) -> Findings:
    """A dense layer follows a convolution or pooling layer, and nothing flattens or pools the map
    between them.

    {paper}, f011 of the release. A model whose labels have a value for each place of the map is
    left alone.
    """
    if per_place(evidence):
        return
    mapped = False
    for layer, _, given in ranked(evidence):
        if layer.family == "dense" and mapped and given is not None and given > 2:
            yield _one(detector, evidence, layer, given)
            return
        if layer.family != "activation":
            mapped = layer.family in ("conv", "pool") or (
                mapped and layer.family in ("dropout", "norm")
            )
    crash = evidence.crash
    if crash is not None and crash.layer in ("Linear", "Dense") and crash.layer_inputs:
        shape = crash.layer_inputs[0].shape
        place = crash.layer_place or crash.place
        if len(shape) > 3:
            yield detector.finding(
                evidence,
                f"{crash.layer} was given a map of shape {shape}",
                fixes=flatten_before(evidence, place),
                place=place,
            )


def _one(
    detector: Detector,
    evidence: Evidence,
    layer: StaticLayer,
    given: int,
) -> Finding:
    view = view_of(evidence, layer)
    param = evidence.hyperparameter(Kind.LAYER, view) if view is not None else None
    suggestions: tuple[Suggestion, ...] = ()
    if param is not None and layer.library == "keras":
        change = Insert(param.id, "Flatten", before=True)
        suggestions = (
            Suggestion(
                Patch((change,)),
                param.id,
                None,
                "Flatten",
            ),
        )
    certain = detector.certainty
    confidence = detector.confidence if given > 3 else 0.5
    saw = f"{layer.type} {layer.name} is given a map of rank {given}"
    crash = evidence.crash
    at_end = map_given(evidence)
    if crash is not None and not crash.layer and at_end is not None:
        confidence = 0.95
        certain = Certainty.PROOF
        saw = f"{saw}; {at_end[1]}"
    return detector.finding(
        evidence,
        saw,
        layer=view,
        place=layer.place,
        fixes=flatten_before(evidence, layer.place),
        suggestions=suggestions,
        confidence=confidence,
        certainty=certain,
    )
