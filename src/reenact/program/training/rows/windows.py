"""Windows of a series and the targets that go with them: which rows a slice takes, and whether a target
lies in its own window."""

import ast
from collections import Counter
from collections.abc import Iterator
from itertools import product

from reenact.program.flow.constants import constant_of
from reenact.program.flow.signs import terms
from reenact.program.flow.uses import assigned
from reenact.program.syntax.excerpt import excerpt, key_of, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import Found, elements, is_call, owner_of, within
from reenact.program.syntax.scope import children

DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def windows_with_target(index: FileIndex) -> Found:
    """Where a target is taken from its own window, and what says so: `s[i:i + w + 1]` next to
    `s[i + w]`.
    """
    if not any(map(_bounds, within(index.tree, ast.Subscript))):
        return
    functions = [one.node for one in index.functions]
    for scope in (*functions, index.tree):
        own = list(_own_nodes(scope))
        kept = [_rows_of(_kept(node)) for node in own]
        taken = [rows for rows in kept if rows is not None]
        wanted = [rows for node in own for rows in _wanted(node, own)]
        for target, window in product(wanted, taken):
            if not _holds(target, window):
                continue
            if not any(_is_behind(rows, window) for rows in taken):
                yield target, f"{excerpt(target)} lies in its own window {excerpt(window)}"
                break


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or file, without the functions within it."""
    for child in children(scope):
        if not isinstance(child, DEFINITIONS):
            yield child
            yield from _own_nodes(child)


def _kept(node: ast.AST) -> ast.expr | None:
    """What is stored, appended, or part of a pair that is given back."""
    if isinstance(node, ast.Assign):
        return node.value
    if is_call(node, "append") and node.args:
        return node.args[0]
    return node if isinstance(node, ast.Subscript) else None


def _wanted(node: ast.AST, own: list[ast.AST]) -> Iterator[ast.Subscript]:
    """Rows that may be a target: the last of a pair that is given back or kept, what fills a list."""
    given = node.value if isinstance(node, ast.Return | ast.Yield) else None
    values: list[ast.expr] = []
    if is_call(node, "append") and node.args:
        given = node.args[0]
        values = [given]
    elif isinstance(node, ast.Assign) and within(node.value, ast.ListComp):
        values = [node.value]
    if isinstance(given, ast.Tuple) and len(given.elts) == 2:
        last = given.elts[1]
        assignments = [one for one in own if isinstance(one, ast.Assign)]
        stored = [pair for one in assignments for pair in assigned(one)]
        values = [value for target, value in stored if same(target, last)]
        values = values or [last]
    for value in values:
        if (rows := _rows_of(value)) is not None:
            yield rows


def _rows_of(value: ast.expr | None) -> ast.Subscript | None:
    """Rows that are taken of something, as such: not in a sum with others."""
    while isinstance(value, ast.Call):
        value = value.args[0] if value.args else owner_of(value)
    if isinstance(value, ast.ListComp):
        value = value.elt
    return value if isinstance(value, ast.Subscript) else None


def _holds(target: ast.Subscript, window: ast.Subscript) -> bool:
    """Whether a target lies within the rows of a window."""
    bounds = _bounds(window)
    first = _axes(target)[0]
    if bounds is None or not same(window.value, target.value):
        return False
    begin, end = bounds
    if isinstance(first, ast.Slice):
        if first.lower is None or first.upper is None or first.step is not None:
            return False
        if _gap(first.upper, first.lower) == _gap(end, begin):
            # Every token's target is the next one.
            return False
        first = first.lower
    inside, rest = _gap(end, first)
    # A window begins at a variable, as in a loop, and its target at another place.
    starts = any(constant_of(term) is None for _, term in terms(begin))
    elsewhere = _gap(first, begin) != (0, {})
    return not rest and inside > 0 and elsewhere and starts


def _is_behind(target: ast.Subscript, window: ast.Subscript) -> bool:
    """Whether rows begin where a window of the same series ends, or later."""
    bounds = _bounds(window)
    wanted = _axes(target)[0]
    first = wanted.lower if isinstance(wanted, ast.Slice) else wanted
    if bounds is None or first is None or not same(window.value, target.value):
        return False
    distance, rest = _gap(first, bounds[1])
    return not rest and distance >= 0


def _bounds(window: ast.Subscript) -> tuple[ast.expr, ast.expr] | None:
    """Begin and end of the rows that a window takes with all their columns; none for anything
    else.
    """
    rows, columns = _axes(window)
    if not isinstance(rows, ast.Slice) or rows.lower is None or rows.upper is None:
        return None
    whole = all(same(column, ast.Slice()) for column in columns)
    return (rows.lower, rows.upper) if whole else None


def _axes(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """Rows, and columns."""
    parts = elements(node.slice)
    return (parts[0], parts[1:]) if parts else (node.slice, [])


def _gap(first: ast.expr, second: ast.expr) -> tuple[int, dict[str, int]]:
    """The distance of two places: its whole numbers, and how often each term is left over."""
    total = 0
    rest: Counter[str] = Counter()
    for sign, term in (*terms(first), *terms(second, -1)):
        known = constant_of(term)
        if known is not None and isinstance(known.value, int):
            total += sign * known.value
        else:
            rest[key_of(term)] += sign
    left = {term: count for term, count in rest.items() if count}
    return total, left
