"""Where the inputs and labels of a training are made: from the call that takes them back to their origin."""

import ast
from collections.abc import Iterator, Sequence

from reenact.program.flow.uses import handed
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    file_of,
    function_of,
    given_as,
    is_call,
    names,
    owner_of,
    within,
)
from reenact.types import Place

FITS = ("fit", "fit_generator", "train_on_batch", "TensorDataset")
PASSES = frozenset(
    {
        "train_test_split",
        "array",
        "asarray",
        "astype",
        "reshape",
        "from_numpy",
        "tensor",
        "as_tensor",
        "float",
        "shuffle",
        "ravel",
        "flatten",
        "unsqueeze",
        "squeeze",
        "to",
        "long",
        "copy",
        "Tensor",
        "FloatTensor",
    }
)
"""Calls that hand labels on as they are."""
DEPTH = 6


def inputs_made_at(files: Sequence[FileIndex]) -> Place | None:
    """The line that computes the inputs which the training is given; none where the text does
    not tell.
    """
    return _made_at(files, 0, "x")


def labels_made_at(files: Sequence[FileIndex]) -> Place | None:
    """The line that computes the labels which the training is given; none where the text does
    not tell.
    """
    return _made_at(files, 1, "y")


def _made_at(files: Sequence[FileIndex], position: int, named: str) -> Place | None:
    """In the file that the program begins with, which is the first, else in another one."""
    for index in files:
        given = next(_given(index, position, named), None)
        made = _origin(given, DEPTH) if given is not None else None
        if made is not None:
            return Place(index.source.path, made.lineno, made.col_offset)
    return None


def _given(index: FileIndex, position: int, named: str) -> Iterator[ast.Name]:
    """The variable that a call is given, or that what it is given is made of:
    `x` of `torch.from_numpy(x[:split])`.
    """
    for call in calls_in(index.tree, *FITS):
        for one in (*call.args[position : position + 1], *given_as([call], named)):
            inner: ast.expr | None = one
            while isinstance(inner, ast.Call | ast.Subscript):
                first = inner.args[:1] if isinstance(inner, ast.Call) else [inner.value]
                inner = next(iter(first), None)
            if isinstance(inner, ast.Name):
                yield inner


def _origin(name: ast.Name, depth: int) -> ast.Assign | None:
    """The last statement that computes what a variable holds, in its function first, through splits
    and parameters.
    """
    if not depth:
        return None
    owner = function_of(name)
    assigned = _binding(owner, name.id) or _binding(file_of(name).tree, name.id)
    if not assigned:
        given = handed(owner, name.id) if isinstance(owner, ast.FunctionDef) else []
        variables = [one for one in given if isinstance(one, ast.Name)]
        if variables:
            return _origin(variables[0], depth - 1)
        return None
    # What only hands the name on to itself, as `y = y.reshape(-1, 1)`, is not an origin.
    others = [node for node in assigned if getattr(_passed(node), "id", "") != name.id]
    made = others[0] if others else assigned[0]
    source = _passed(made)
    if source is None or source.id == name.id:
        return made
    return _origin(source, depth - 1) or made


def _binding(scope: ast.AST, name: str) -> list[ast.Assign]:
    """Statements that give a variable a value, the last one first."""
    found = [
        node
        for node in within(scope, ast.Assign)
        if any(name in names(one) for one in node.targets)
    ]
    return sorted(found, key=lambda node: -node.lineno)


def _passed(node: ast.Assign) -> ast.Name | None:
    """The variable whose content an assignment only hands on; none where it computes."""
    value: ast.expr | None = node.value
    if isinstance(value, ast.Subscript):
        value = value.value
    while is_call(value, *PASSES):
        given = [arg for arg in value.args if isinstance(arg, ast.Name)]
        if given:
            return given[called(value) == "train_test_split" and len(given) > 1]
        value = owner_of(value)
    return value if isinstance(value, ast.Name) else None
