"""Windows of a series that hold their own target, as far as the text tells: `x = s[i:i + w + 1]` beside
`y = s[i + w]`."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules.own._flow import assigned
from reenact.rules.own._lines import called

TARGETS = re.compile(r"(?:^|_)(?:ys?|targets?|labels?|next|future|outputs?)(?:_|\d|$)", re.IGNORECASE)
Linear = Counter[str]
"""A sum: how often each term occurs; whole numbers under the empty name."""


def windows_with_target(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Where a target is taken from within the window that it belongs to, and what says so."""
    for scope in index.functions:
        yield from _in_scope(scope.node)
    yield from _in_scope(index.tree)


def _in_scope(scope: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    nodes = list(_own_nodes(scope))
    values = [one for node in nodes for one in _stored(node)]
    targets = [node for value, is_target in values if is_target for node in _subscripts(value)]
    inputs = [node for value, is_target in values if not is_target for node in _subscripts(value)]
    for target in targets:
        for window in inputs:
            if ast.unparse(window.value) == ast.unparse(target.value) and _holds(window, target):
                yield target, f"{ast.unparse(target)} lies in its own window {ast.unparse(window)}"
                return


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or file, without the functions within it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield child
            yield from _own_nodes(child)


def _stored(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Values that are kept, and whether as targets: by name, or as the second of a pair."""
    for target, value in assigned(node) if isinstance(node, ast.stmt) else ():
        if not isinstance(value, ast.Tuple):
            names = [one for one in ast.walk(target) if isinstance(one, ast.Name | ast.Attribute)]
            if len(names) == 1:
                yield value, bool(TARGETS.search(ast.unparse(names[0]).rpartition(".")[2]))
    if isinstance(node, ast.Call) and called(node) == "append" and isinstance(node.func, ast.Attribute):
        given = node.args[0] if node.args else None
        if isinstance(given, ast.Tuple) and len(given.elts) == 2:
            yield from ((given.elts[0], False), (given.elts[1], True))
        elif given is not None:
            yield given, bool(TARGETS.search(ast.unparse(node.func.value).rpartition(".")[2]))
    pair = node.value if isinstance(node, ast.Return | ast.Yield) else None
    if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
        yield from ((pair.elts[0], False), (pair.elts[1], True))


def _subscripts(value: ast.expr) -> Iterator[ast.Subscript]:
    """Rows that are taken of something, as such: not in a sum with others."""
    while isinstance(value, ast.Call):
        inner = value.func.value if isinstance(value.func, ast.Attribute) and not value.args else None
        value = value.args[0] if value.args else (inner or ast.Constant(None))
    for node in [value.elt] if isinstance(value, ast.ListComp) else [value]:
        if isinstance(node, ast.Subscript):
            yield node


def _holds(window: ast.Subscript, target: ast.Subscript) -> bool:
    rows, columns = _axes(window)
    wanted, _ = _axes(target)
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
        first, last = _linear(wanted.lower), _linear(wanted.upper)
        if _gap(end, begin) == _gap(last, first):
            # Every token's target is the next one.
            return False
    else:
        first = _linear(wanted)
    inside = _number(_gap(end, first))
    after = _gap(first, begin)
    return inside is not None and inside > 0 and any(name for name in after if name) and _moves(begin)


def _axes(node: ast.Subscript) -> tuple[ast.expr, str]:
    """Rows, and columns as they are written."""
    if isinstance(node.slice, ast.Tuple) and node.slice.elts:
        return node.slice.elts[0], ", ".join(ast.unparse(one) for one in node.slice.elts[1:])
    return node.slice, ""


def _moves(begin: Linear) -> bool:
    """Whether a window begins at a variable, as in a loop."""
    return any(name for name in begin if name)


def _linear(node: ast.expr, sign: int = 1) -> Linear:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = _linear(node.right, sign if isinstance(node.op, ast.Add) else -sign)
        total = _linear(node.left, sign)
        total.update(right)
        return total
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return Counter({"": sign * node.value})
    return Counter({ast.unparse(node): sign})


def _gap(first: Linear, second: Linear) -> Linear:
    total = Counter(first)
    total.subtract(second)
    return Counter({name: count for name, count in total.items() if count})


def _number(gap: Linear) -> int | None:
    return gap[""] if not any(name for name in gap if name) else None
