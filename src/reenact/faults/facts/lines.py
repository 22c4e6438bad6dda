"""The line of a model's `forward` that asks a layer, or that lets something move."""

import ast

from reenact.faults import Evidence, LayerView, Place
from reenact.probe.trace import Mover
from reenact.program.syntax.lines import calls_at, first_place, nodes
from reenact.program.syntax.pieces import calls_in, file_of, place_of

ATTENTION = (
    "masked_fill",
    "masked_fill_",
    "where",
    "scaled_dot_product_attention",
    "softmax",
    "log_softmax",
)
"""What decides who sees whom, the mask before what it masks."""
PRODUCTS = ("matmul", "bmm", "einsum")
PLAIN = (
    "Linear",
    "LayerNorm",
    "Dropout",
    "Embedding",
    "Identity",
    "RMSNorm",
    "BatchNorm1d",
    "GELU",
    "ReLU",
)
"""Modules that mix nothing themselves: what they are given has moved already."""


def pass_place(evidence: Evidence, layer: LayerView) -> Place | None:
    """Where the class that made a layer calls it as `self.name(...)`; none for a layer of a
    container.
    """
    name = layer.name.rpartition(".")[2]
    for owner in nodes(evidence.files, ast.ClassDef) if name != layer.type else ():
        if layer.place is not None and _holds(owner, layer.place):
            own = sorted(calls_in(owner, name), key=lambda call: (call.lineno, call.col_offset))
            if own:
                return place_of(own[0])
    return None


def _holds(owner: ast.ClassDef, place: Place) -> bool:
    last = owner.end_lineno or owner.lineno
    return file_of(owner).source.path == place.file and owner.lineno <= place.line <= last


def mover_place(evidence: Evidence, mover: Mover | None) -> Place | None:
    """The line that lets something move: in the program's own `forward`, else where the module
    is made.
    """
    if mover is None:
        return None
    forward = mover.forward
    if forward is not None:
        parts = tuple(reversed(mover.module.split(".")))
        wanted = (
            (*ATTENTION, *PRODUCTS, *parts)
            if mover.type in PLAIN
            else (*parts, *ATTENTION, *PRODUCTS)
        )
        place = first_place(
            one for name in wanted for one in calls_at(evidence.files, forward, name)
        )
        if place is not None:
            return place
    near = [
        layer for layer in evidence.layers if layer.name and mover.module.startswith(layer.name)
    ]
    return (
        next(
            (layer.place for layer in near if layer.place is not None),
            None,
        )
        or forward
    )
