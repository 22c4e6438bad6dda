"""What the model is fed, and what its first layers do to it."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.rules import Evidence, LayerView, TensorFacts

_SCALING = ("BatchNorm", "Normalization", "Rescaling", "LayerNorm", "InstanceNorm")
_PREPARING = ("Rescaling", "CategoryEncoding", "Lookup", "Hashing", "Discretization", "TextVectorization")


def training_inputs(evidence: Evidence) -> Iterator[TensorFacts]:
    """Inputs of the training, one fact a tensor."""
    for facts in evidence.trace.data if evidence.trace is not None else ():
        if (facts.role, facts.split) == ("input", "train"):
            yield facts


def reads_symbols(evidence: Evidence) -> bool:
    """Whether the model looks numbers up in a table, so that they are names and no quantities."""
    layers = evidence.layers
    return any(layer.family == "embedding" or layer.type.startswith(_PREPARING[1:]) for layer in layers)


def scales_itself(evidence: Evidence) -> bool:
    """Whether normalisation or scaling comes before the first layer with weights."""
    for layer in evidence.layers:
        if layer.type.endswith(_SCALING) or layer.type.startswith(_SCALING):
            return True
        if layer.weighted or layer.family == "composite":
            return False
    return False


def casts_itself(evidence: Evidence) -> bool:
    return any(layer.type.startswith(_PREPARING) for layer in evidence.layers)


def channels_last(evidence: Evidence, layer: LayerView) -> bool:
    """How a convolution reads its input: as it says itself, else as its library does."""
    told = layer.settings.get("data_format")
    if isinstance(told, str):
        return told == "channels_last"
    return evidence.graph is not None and evidence.graph.framework == "keras"
