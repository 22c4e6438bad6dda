"""The line of the program that does something: where a model's `forward` calls what moved, where a name is
used."""

import ast
from collections.abc import Iterator, Sequence

from reenact.probe.trace import Mover
from reenact.program.read.index import FileIndex, index_of
from reenact.rules import Evidence, LayerView, Place
from reenact.rules.own._flow import assigned

ATTENTION = ("masked_fill", "masked_fill_", "where", "scaled_dot_product_attention", "softmax", "log_softmax")
"""What decides who sees whom, the mask before what it masks."""
PRODUCTS = ("matmul", "bmm", "einsum")
PLAIN = ("Linear", "LayerNorm", "Dropout", "Embedding", "Identity", "RMSNorm", "BatchNorm1d", "GELU", "ReLU")
"""Modules that mix nothing themselves: what they are given has moved already."""


def indexes(evidence: Evidence) -> Iterator[FileIndex]:
    """Every file of the program that can be read."""
    for file in evidence.program.files if evidence.program is not None else ():
        index = index_of(file) if file.path.suffix in (".py", ".ipynb") else ""
        if not isinstance(index, str):
            yield index


def place_in(index: FileIndex, node: ast.expr | ast.stmt) -> Place:
    """Where a piece of the program stands."""
    last = node.end_lineno or node.lineno
    return Place(index.source.path, node.lineno, node.col_offset, last, node.end_col_offset or 0)


def called(node: ast.Call) -> str:
    """The last word of what is called: `softmax` of `F.softmax(x)` and of `scores.softmax(-1)`."""
    function = node.func
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def function_of(index: FileIndex, node: ast.AST) -> ast.AST:
    """The function that a piece of the program stands in, or the whole file."""
    while node in index.parents:
        node = index.parents[node]
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module):
            return node
    return index.tree


def value_of(index: FileIndex, node: ast.expr) -> ast.expr:
    """What a variable was last given, in its function or in the file; other expressions as they are."""
    if not isinstance(node, ast.Name):
        return node
    for owner in (function_of(index, node), index.tree):
        given = [
            value
            for one in ast.walk(owner)
            if isinstance(one, ast.Assign) and one.lineno < node.lineno
            for target, value in assigned(one)
            if isinstance(target, ast.Name) and target.id == node.id
        ]
        if given:
            return max(given, key=lambda value: value.lineno)
    return node


def is_in_loop(index: FileIndex, node: ast.expr | ast.stmt) -> bool:
    """Whether a piece of the program is repeated."""
    return any(loop.lineno < node.lineno <= (loop.end_lineno or 0) for loop in index.loops)


def call_place(evidence: Evidence, name: str) -> Place | None:
    """Where the program first calls something of this name; none where it does not."""
    found = ((index, call) for index in indexes(evidence) for call in index.calls if called(call) == name)
    return next((place_in(*one) for one in found), None)


def pass_place(evidence: Evidence, layer: LayerView) -> Place | None:
    """Where the class that made a layer calls it as `self.name(...)`; none for a layer of a container."""
    made, name = layer.place, layer.name.rpartition(".")[2]
    for index in indexes(evidence) if made is not None else ():
        owners = [node for node in ast.walk(index.tree) if isinstance(node, ast.ClassDef)]
        for owner in owners if made is not None and made.file == index.source.path else ():
            own = range(owner.lineno, (owner.end_lineno or owner.lineno) + 1)
            calls = [call for call in index.calls if call.lineno in own and called(call) == name]
            if made is not None and made.line in own and calls and name != layer.type:
                return place_in(index, calls[0])
    return None


def mover_place(evidence: Evidence, mover: Mover | None) -> Place | None:
    """The line that lets something move: in the program's own `forward`, else where the module is made."""
    if mover is None:
        return None
    if mover.forward is not None:
        parts = tuple(reversed(mover.module.split(".")))
        wanted = (ATTENTION, PRODUCTS, parts) if mover.type in PLAIN else (parts, ATTENTION, PRODUCTS)
        for names in wanted:
            place = _call_within(evidence, mover.forward, names)
            if place is not None:
                return place
    near = [layer for layer in evidence.layers if layer.name and mover.module.startswith(layer.name)]
    made = next((layer.place for layer in near if layer.place is not None), None)
    return made or mover.forward


def _call_within(evidence: Evidence, within: Place, names: Sequence[str]) -> Place | None:
    for index in indexes(evidence):
        if index.source.path != within.file:
            continue
        inside = [call for call in index.calls if within.line <= call.lineno <= within.end_line]
        for name in names:
            found = next((call for call in inside if called(call) == name), None)
            if found is not None:
                return place_in(index, found)
    return None
