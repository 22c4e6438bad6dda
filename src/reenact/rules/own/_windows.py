"""Windows of a series that hold their own target, in the text: `x = s[i:i + w + 1]` beside `y = s[i + w]`."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules.own._parts import assigned, is_call, owner_of

TARGETS = re.compile(r"(?:^|_)(?:ys?|targets?|labels?|next|future|outputs?)(?:_|\d|$)", re.IGNORECASE)
Linear = Counter[str]
"""A sum: how often each term occurs; whole numbers under the empty name."""


def windows_with_target(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Where a target is taken from within the window that it belongs to, and what says so."""
    for scope in (*(one.node for one in index.functions), index.tree):
        values = [one for node in _own_nodes(scope) for one in _stored(node)]
        taken = [(node, is_target) for value, is_target in values if (node := _rows_of(value)) is not None]
        held = (
            (target, window)
            for target, is_target in taken
            for window, beside in taken
            if is_target and not beside and ast.unparse(window.value) == ast.unparse(target.value)
        )
        for target, window in (pair for pair in held if _holds(pair[1], pair[0])):
            yield target, f"{ast.unparse(target)} lies in its own window {ast.unparse(window)}"
            break


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or file, without the functions within it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def _stored(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Values that are kept, and whether as targets: by name, or as the second of a pair."""
    for target, value in assigned(node) if isinstance(node, ast.stmt) else ():
        kept = [one for one in ast.walk(target) if isinstance(one, ast.Name | ast.Attribute)]
        if not isinstance(value, ast.Tuple) and len(kept) == 1:
            yield value, _is_target(kept[0])
    given = node.value if isinstance(node, ast.Return | ast.Yield) else None
    owner = owner_of(node) if is_call(node, "append") and node.args else None
    if owner is not None and isinstance(node, ast.Call):
        given = node.args[0]
    if isinstance(given, ast.Tuple) and len(given.elts) == 2:
        yield from ((given.elts[0], False), (given.elts[1], True))
    elif given is not None and owner is not None:
        yield given, _is_target(owner)


def _is_target(node: ast.AST) -> bool:
    return bool(TARGETS.search(ast.unparse(node).rpartition(".")[2]))


def _rows_of(value: ast.expr | None) -> ast.Subscript | None:
    """Rows that are taken of something, as such: not in a sum with others."""
    while isinstance(value, ast.Call):
        value = value.args[0] if value.args else owner_of(value)
    value = value.elt if isinstance(value, ast.ListComp) else value
    return value if isinstance(value, ast.Subscript) else None


def _holds(window: ast.Subscript, target: ast.Subscript) -> bool:
    (rows, columns), (wanted, _) = _axes(window), _axes(target)
    if (
        not isinstance(rows, ast.Slice)
        or rows.upper is None
        or rows.lower is None
        or columns not in ("", ":")
    ):
        return False
    begin, end = _linear(rows.lower), _linear(rows.upper)
    if isinstance(wanted, ast.Slice):
        if wanted.lower is None or wanted.upper is None or wanted.step is not None:
            return False
        first = _linear(wanted.lower)
        if _gap(end, begin) == _gap(_linear(wanted.upper), first):
            # Every token's target is the next one.
            return False
    else:
        first = _linear(wanted)
    inside = _gap(end, first)
    # A window begins at a variable, as in a loop, and its target at another place.
    return not any(inside) and inside[""] > 0 and any(_gap(first, begin)) and any(begin)


def _axes(node: ast.Subscript) -> tuple[ast.expr, str]:
    """Rows, and columns as they are written."""
    if isinstance(node.slice, ast.Tuple) and node.slice.elts:
        return node.slice.elts[0], ", ".join(ast.unparse(one) for one in node.slice.elts[1:])
    return node.slice, ""


def _linear(node: ast.expr, sign: int = 1) -> Linear:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            total = _linear(left, sign)
            total.update(_linear(right, sign if isinstance(node.op, ast.Add) else -sign))
            return total
        case ast.Constant(int(value)):
            return Counter({"": sign * value})
    return Counter({ast.unparse(node): sign})


def _gap(first: Linear, second: Linear) -> Linear:
    total = Counter(first)
    total.subtract(second)
    return Counter({name: count for name, count in total.items() if count})
