"""Sizes that layers are given, as plain numbers."""

from __future__ import annotations

from reenact.rules import Evidence, LayerView

DEEP = 10
"""Convolution and pooling layers from which NeuraLint calls a network deep."""


def window(layer: LayerView) -> int | None:
    """Side of a convolution's window; the longest when they differ."""
    value = layer.settings.get("kernel_size")
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    sides = [side for side in value if isinstance(side, int)] if isinstance(value, list) else []
    return max(sides, default=None)


def filters(layer: LayerView) -> int | None:
    for name in ("filters", "out_channels"):
        value = layer.settings.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def strided(layer: LayerView) -> bool:
    """Whether a convolution shrinks what it is given."""
    value = layer.settings.get("strides", layer.settings.get("stride", 1))
    sides = value if isinstance(value, list) else [value]
    return any(side != 1 for side in sides)


def convolutions(evidence: Evidence) -> tuple[LayerView, ...]:
    """Convolutions that narrow: not the transposed ones of a decoder."""
    found = tuple(layer for layer in evidence.layers if layer.family == "conv")
    return () if any("Transpose" in layer.type for layer in found) else found


def is_pooling(layer: LayerView) -> bool:
    return layer.family == "pool" or (layer.functional and "pool" in layer.type)


def is_max_pooling(layer: LayerView) -> bool:
    return is_pooling(layer) and "max" in layer.type.lower()


def is_deep(evidence: Evidence) -> bool:
    return sum(layer.family == "conv" or is_pooling(layer) for layer in evidence.layers) >= DEEP
