"""Where something stands in a program: calls, functions, the line of a model's `forward` that lets something
move."""

import ast
from collections.abc import Iterable, Iterator

from reenact.faults import Evidence, LayerView, Place
from reenact.probe.trace import Mover
from reenact.program.syntax.index import N
from reenact.program.syntax.pieces import Node, calls_in, file_of, is_call, place_of, within

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


def nodes(evidence: Evidence, kind: type[N]) -> Iterator[N]:
    """Everything of this kind in the program."""
    return (one for index in evidence.files for one in within(index.tree, kind))


def calls(evidence: Evidence, *names: str) -> Iterator[ast.Call]:
    """Every call of one of these names in the program; of any where none is given."""
    return (call for index in evidence.files for call in index.calls if is_call(call, *names))


def calls_at(evidence: Evidence, place: Place | None, *names: str) -> Iterator[ast.Call]:
    """The same that stand in a line, or in the lines of a function."""
    return (call for call in calls(evidence, *names) if is_in(place, call))


def is_in(place: Place | None, node: Node) -> bool:
    """Whether something stands in a line, or in the lines of a function."""
    if place is None or file_of(node).source.path != place.file:
        return False
    return place.line <= node.lineno <= max(place.line, place.end_line)


def first_place(found: Iterable[Node]) -> Place | None:
    """Where the first of these stands; none where there are none."""
    return next(map(place_of, found), None)


def call_place(evidence: Evidence, *names: str) -> Place | None:
    """Where the program first calls something of this name, else of the next."""
    return first_place(one for name in names for one in calls(evidence, name))


def pass_place(evidence: Evidence, layer: LayerView) -> Place | None:
    """Where the class that made a layer calls it as `self.name(...)`; none for a layer of a
    container.
    """
    name = layer.name.rpartition(".")[2]
    for owner in nodes(evidence, ast.ClassDef) if name != layer.type else ():
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
        place = first_place(one for name in wanted for one in calls_at(evidence, forward, name))
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
