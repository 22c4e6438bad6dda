"""Windows of a series, in the text: those that hold their own target, as `x = s[i:i + w + 1]` beside
`y = s[i + w]`, and those that overlap and are split by chance."""

import ast
import re
from collections import Counter
from collections.abc import Iterator

from reenact.program.read.index import FileIndex
from reenact.rules.own._lines import loops_of
from reenact.rules.own._parts import assigned, is_call, names, options, owner_of, stores, within

TARGETS = re.compile(r"(?:^|_)(?:ys?|targets?|labels?|next|future|outputs?)(?:_|\d|$)", re.IGNORECASE)
DRAWS = ("permutation", "randperm")
DEEP = 4
"""Assignments that are followed in a row."""
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


def windows_split_by_chance(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Where windows of one series that overlap are split by chance: what is held out lies between what was
    trained on, and shares all but its ends with it."""
    makers = {one.name for one in index.functions if _slides(one.node)} | {"unfold", "sliding_window_view"}
    stored = [(names(target, ast.Store), value) for target, value in stores(index.tree)]
    reached: set[str] = set()
    for _ in range(DEEP):
        for targets, value in stored:
            made = any(is_call(one, *makers) for one in ast.walk(value)) or _slides(value)
            if made or reached & names(value):
                reached |= targets
    by_chance = [targets for targets, value in stored if any(is_call(one, *DRAWS) for one in ast.walk(value))]
    drawn = {name for targets in by_chance for name in targets}
    for call in index.calls if reached else ():
        splits = is_call(call, "train_test_split", "random_split") and "shuffle" not in options(call)
        if splits and call.args and reached & names(call.args[0]):
            yield call, f"{ast.unparse(call)[:60]} splits windows that overlap by chance"
            return
    for one in within(index.tree, ast.Subscript):
        # Batches are drawn by chance too, in the loop of a training.
        if reached & names(one.value) and drawn & names(one.slice) and not loops_of(index, one):
            yield one, f"{ast.unparse(one)[:60]} takes windows that overlap by chance"
            return


def _slides(node: ast.AST) -> bool:
    """Whether something takes `series[i:i + width]` for every i of a range, one after the other."""
    loops: list[ast.For | ast.comprehension] = [
        one for one in ast.walk(node) if isinstance(one, ast.For | ast.comprehension)
    ]
    counted = [one for one in loops if is_call(one.iter, "range") and len(one.iter.args) < 3]
    numbers = {one.target.id for one in counted if isinstance(one.target, ast.Name)}
    for one in ast.walk(node):
        match one:
            case ast.Subscript(slice=ast.Slice(ast.Name(start), ast.BinOp(ast.Name(end), ast.Add()))):
                if start == end and start in numbers:
                    return True
    return False
