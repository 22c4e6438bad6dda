"""Where the inputs and labels of a training are made: from the call that is given them back to what computed
them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.rules import Evidence, Place
from reenact.rules.own._lines import indexes

FITS = frozenset({"fit", "fit_generator", "train_on_batch", "TensorDataset"})
PASSES = frozenset({
    "train_test_split", "array", "asarray", "astype", "reshape", "from_numpy", "tensor", "as_tensor", "float",
    "shuffle", "ravel", "flatten", "unsqueeze", "squeeze", "to", "long", "copy", "Tensor", "FloatTensor",
})  # fmt: skip
"""Calls that hand labels on as they are."""
DEPTH = 6


def inputs_made_at(evidence: Evidence) -> Place | None:
    """The line that computes the inputs which the training is given; none where the text does not tell."""
    return _made_at(evidence, 0, "x")


def labels_made_at(evidence: Evidence) -> Place | None:
    """The line that computes the labels which the training is given; none where the text does not tell."""
    return _made_at(evidence, 1, "y")


def _made_at(evidence: Evidence, argument: int, named: str) -> Place | None:
    """In the file that the program begins with, else in another one."""
    entry = evidence.program.entry_file.path if evidence.program is not None else None
    for index in sorted(indexes(evidence), key=lambda index: index.source.path != entry):
        tree = index.tree
        given = next(_given(tree, argument, named), None)
        made = _origin(tree, given.id, DEPTH, _function(tree, given)) if given is not None else None
        if made is not None:
            return Place(index.source.path, made.lineno, made.col_offset)
    return None


def _given(tree: ast.AST, argument: int, named: str) -> Iterator[ast.Name]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in FITS:
            by_name = [one.value for one in node.keywords if one.arg == named]
            given = (*node.args[argument : argument + 1], *by_name)
            yield from (arg for arg in given if isinstance(arg, ast.Name))


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _function(tree: ast.AST, inside: ast.expr) -> ast.AST:
    """The innermost function around an expression; the whole text where there is none."""
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= inside.lineno <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=tree)


def _origin(tree: ast.AST, name: str, depth: int, scope: ast.AST | None = None) -> ast.stmt | None:
    """The last statement that computes what a name holds, in `scope` where it does so there; followed through
    splits and parameters."""
    if not depth:
        return None
    nodes = [node for part in (scope, tree) if part is not None for node in ast.walk(part)]
    bound = [node for node in nodes if isinstance(node, ast.Assign) and _binds(node, name)]
    inside = {id(node) for node in ast.walk(scope)} if scope is not None else set()
    assigned = [node for node in bound if id(node) in inside] or bound
    if not assigned:
        handed = next(_handed(tree, name), None)
        return _origin(tree, handed, depth - 1) if handed is not None else None
    last = max(assigned, key=lambda node: node.lineno)
    source = _passed(last, name)
    if source is None or source == name:
        return last
    return _origin(tree, source, depth - 1, scope) or last


def _binds(node: ast.Assign, name: str) -> bool:
    return any(
        isinstance(part, ast.Name) and part.id == name for one in node.targets for part in ast.walk(one)
    )


def _passed(node: ast.Assign, name: str) -> str | None:
    """The name whose content an assignment only hands on; none where it computes."""
    value = node.value
    if isinstance(value, ast.Subscript):
        value = value.value
    while isinstance(value, ast.Call) and _called(value) in PASSES:
        names = [arg.id for arg in value.args if isinstance(arg, ast.Name)]
        if _called(value) == "train_test_split" and len(names) > 1:
            return names[1]
        inner = value.func.value if isinstance(value.func, ast.Attribute) and not names else None
        if inner is None:
            return names[0] if names else None
        value = inner
    return value.id if isinstance(value, ast.Name) and value.id != name else None


def _handed(tree: ast.AST, name: str) -> Iterator[str]:
    """What callers of the function that has this parameter give for it."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        numbers = [number for number, arg in enumerate(function.args.args) if arg.arg == name]
        for call in ast.walk(tree) if numbers else ():
            if isinstance(call, ast.Call) and _called(call) == function.name and len(call.args) > numbers[0]:
                value = call.args[numbers[0]]
                if isinstance(value, ast.Name):
                    yield value.id
