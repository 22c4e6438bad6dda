"""The files of a program, and where something stands in them: calls, functions, loops, what a variable was
last given, the line of a model's `forward` that lets something move."""

import ast
from collections.abc import Iterable, Iterator

from reenact.faults import Evidence, LayerView, Place
from reenact.faults.facts.flow import assigned
from reenact.faults.facts.parts import called, is_call, within
from reenact.probe.trace import Mover
from reenact.program.syntax.index import FileIndex, N, index_of

Node = ast.expr | ast.stmt
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


def indexes(evidence: Evidence) -> Iterator[FileIndex]:
    """Every file of the program that can be read."""
    for file in evidence.program.files if evidence.program is not None else ():
        index = index_of(file) if file.path.suffix in (".py", ".ipynb") else ""
        if not isinstance(index, str):
            yield index


def nodes(
    evidence: Evidence,
    kind: type[N],
) -> Iterator[tuple[FileIndex, N]]:
    """Everything of this kind in the program."""
    return ((index, one) for index in indexes(evidence) for one in within(index.tree, kind))


def calls(evidence: Evidence, *names: str) -> Iterator[tuple[FileIndex, ast.Call]]:
    """Every call of one of these names in the program; of any where none is given."""
    return (
        (index, call)
        for index in indexes(evidence)
        for call in index.calls
        if is_call(call, *names)
    )


def calls_at(
    evidence: Evidence, place: Place | None, *names: str
) -> Iterator[tuple[FileIndex, ast.Call]]:
    """The same that stand in a line, or in the lines of a function."""
    for index, call in calls(evidence, *names) if place is not None else ():
        last = max(place.line, place.end_line) if place is not None else 0
        if (
            place is not None
            and index.source.path == place.file
            and place.line <= call.lineno <= last
        ):
            yield index, call


def scopes(index: FileIndex) -> Iterator[ast.Module | ast.FunctionDef]:
    """The file and every function in it."""
    for scope in (
        index.tree,
        *(one.node for one in index.functions),
    ):
        if isinstance(scope, ast.Module | ast.FunctionDef):
            yield scope


def function_of(index: FileIndex, node: ast.AST) -> ast.AST:
    """The function that a piece of the program stands in, or the whole file."""
    functions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Module)
    return next(
        (one for one in index.ancestors(node) if isinstance(one, functions)),
        index.tree,
    )


def loops_of(index: FileIndex, node: Node) -> list[ast.For | ast.AsyncFor | ast.While]:
    """The loops that repeat a piece of the program."""
    return [loop for loop in index.loops if loop.lineno < node.lineno <= (loop.end_lineno or 0)]


def value_of(index: FileIndex, node: ast.expr) -> ast.expr:
    """What a variable was last given, in its function or in the file; other expressions as they
    are.
    """
    if not isinstance(node, ast.Name):
        return node
    for owner in (function_of(index, node), index.tree):
        given = [
            value
            for line, value in _given(index, owner).get(
                node.id,
                (),
            )
            if line < node.lineno
        ]
        if given:
            return max(given, key=lambda value: value.lineno)
    return node


def _given(index: FileIndex, owner: ast.AST) -> dict[str, list[tuple[int, ast.expr]]]:
    """What each variable is given in a function or file, and the line of the statement that
    does it.
    """

    def read() -> dict[str, list[tuple[int, ast.expr]]]:
        found: dict[str, list[tuple[int, ast.expr]]] = {}
        for statement in within(owner, ast.Assign):
            for target, value in assigned(statement):
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append((statement.lineno, value))
        return found

    return index.once((_given, owner), read)


def place_in(index: FileIndex, node: Node) -> Place:
    """Where a piece of the program stands."""
    last = node.end_lineno or node.lineno
    return Place(
        index.source.path,
        node.lineno,
        node.col_offset,
        last,
        node.end_col_offset or 0,
    )


def first_place(found: Iterable[tuple[FileIndex, Node]]) -> Place | None:
    """Where the first of these stands; none where there are none."""
    return next(
        (place_in(index, node) for index, node in found),
        None,
    )


def call_place(evidence: Evidence, *names: str) -> Place | None:
    """Where the program first calls something of this name, else of the next."""
    return first_place(one for name in names for one in calls(evidence, name))


def pass_place(evidence: Evidence, layer: LayerView) -> Place | None:
    """Where the class that made a layer calls it as `self.name(...)`; none for a layer of a
    container.
    """
    made = layer.place
    name = layer.name.rpartition(".")[2]
    for index, owner in (
        nodes(evidence, ast.ClassDef) if made is not None and name != layer.type else ()
    ):
        own = range(owner.lineno, (owner.end_lineno or owner.lineno) + 1)
        if made is not None and made.file == index.source.path and made.line in own:
            passed = [call for call in index.calls if call.lineno in own and called(call) == name]
            if passed:
                return place_in(index, passed[0])
    return None


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
