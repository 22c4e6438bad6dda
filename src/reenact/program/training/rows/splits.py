"""Which rows were held out of which: by calls that split, by two slices that share their cut, by what a model
is fitted to and judged by, and by what is then made of both parts in the same way."""

import ast
from collections.abc import Iterator
from itertools import combinations

from reenact.program.flow.constants import constant_of
from reenact.program.flow.uses import handed, names_that_reach, stores, variables_read
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Node,
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    given_as,
    is_call,
    is_constant,
    names,
    owner_of,
    within,
)
from reenact.program.training.roles import is_without_gradients, without_gradients

Pair = tuple[ast.expr, ast.expr]
"""Rows to learn from, and rows that were held out of them."""
JUDGES = ("evaluate", "predict", "score", "test_on_batch")
"""Methods of Keras and scikit-learn that a model answers by."""
LEARNS = ("backward", "gradient", "train_on_batch", "manual_backward")
ROUNDS = 4


def pairs(index: FileIndex) -> list[Pair]:
    """All rows of a file that were split from each other."""
    return list(index.once((pairs,), lambda: _pairs(index)))


def apart(first: Node, second: Node) -> bool:
    """Whether two expressions differ only in that one is made of the rows that were held out of
    the other's.
    """
    return not same(first, second) and _alike(pairs(file_of(first)), first, second)


def evaluated(index: FileIndex) -> set[str]:
    """Names of what goes into the evaluation of a model and not into its training."""
    return set(index.once((evaluated,), lambda: _evaluated(index)))


def _pairs(index: FileIndex) -> list[Pair]:
    known: list[Pair] = []
    for target, value in stores(index.tree):
        known += _of_call(target, value)
    known += _of_slices(index)
    known += _of_roles(index)
    for _ in range(ROUNDS):
        fresh = [pair for pair in _made_alike(index, known) if not _holds(known, pair)]
        if not fresh:
            break
        known += fresh
    return known


def _of_call(target: ast.expr, value: ast.expr) -> Iterator[Pair]:
    parts = elements(target)
    if not parts:
        return
    if calls_in(value, "train_test_split"):
        yield from zip(parts[::2], parts[1::2], strict=False)
    elif calls_in(value, "random_split"):
        for part in parts[1:]:
            yield (parts[0], part)
    elif is_call(value, "load_data") and len(parts) == 2:
        yield from zip(elements(parts[0]), elements(parts[1]), strict=False)


def _of_slices(index: FileIndex) -> Iterator[Pair]:
    """`rows[:cut]` and `rows[cut:]`."""
    begins: list[tuple[ast.Subscript, ast.expr]] = []
    ends: list[tuple[ast.Subscript, ast.expr]] = []
    for node in within(index.tree, ast.Subscript):
        match _of_rows(node):
            case ast.Slice(begin, ast.expr() as cut, None) if _is_start(begin):
                begins.append((node, cut))
            case ast.Slice(ast.expr() as cut, _, None):
                ends.append((node, cut))
    for first, end in begins:
        for second, begin in ends:
            if same(end, begin) and same(first.value, second.value):
                yield first, second


def _is_start(begin: ast.expr | None) -> bool:
    """Whether a slice begins with the first row."""
    return begin is None or is_constant(constant_of(begin), 0)


def _of_rows(node: ast.Subscript) -> ast.expr:
    if isinstance(node.slice, ast.Tuple) and node.slice.elts:
        return node.slice.elts[0]
    return node.slice


def _of_roles(index: FileIndex) -> Iterator[Pair]:
    """What a model is fitted to, and what the same model is asked about."""
    for fit in index.calls:
        model = owner_of(fit)
        if called(fit) != "fit" or model is None or not fit.args:
            continue
        held = [
            call.args[0]
            for call in index.calls
            if called(call) in JUDGES and call.args and same(owner_of(call), model)
        ]
        given = given_as([fit], "validation_data")
        for value in given:
            parts = elements(value)
            held.append(parts[0] if parts else value)
        for rows in held:
            if not same(rows, fit.args[0]):
                yield (fit.args[0], rows)


def _made_alike(index: FileIndex, known: list[Pair]) -> Iterator[Pair]:
    """Two variables that are given the same thing of each part."""
    parts: set[str] = set()
    for one, another in known:
        parts |= variables_read(one) | variables_read(another)
    made = [pair for pair in stores(index.tree) if parts & variables_read(pair[1])]
    for (first, value), (second, other) in combinations(made, 2):
        if type(value) is not type(other):
            continue
        if same(first, second) or same(value, other):
            continue
        if _alike(known, value, other):
            yield from _side_by_side(first, second)
        elif _alike(known, other, value):
            yield from _side_by_side(second, first)


def _side_by_side(first: ast.expr, second: ast.expr) -> Iterator[Pair]:
    """Of `x, y = part` each by itself."""
    if elements(first) or elements(second):
        yield from zip(elements(first), elements(second), strict=False)
    else:
        yield first, second


def _holds(known: list[Pair], pair: tuple[ast.AST, ast.AST]) -> bool:
    one, other = pair
    return any(same(first, one) and same(second, other) for first, second in known)


def _alike(known: list[Pair], first: object, second: object) -> bool:
    """Whether two trees are the same but for the parts of one split."""
    if not isinstance(first, ast.AST) or not isinstance(second, ast.AST):
        return first == second
    if _holds(known, (first, second)):
        return True
    if type(first) is not type(second):
        return False
    return all(
        _all_alike(known, getattr(first, field, None), getattr(second, field, None))
        for field in first._fields
        if field != "ctx"
    )


def _all_alike(known: list[Pair], first: object, second: object) -> bool:
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(
            _alike(known, part, other) for part, other in zip(first, second, strict=True)
        )
    return _alike(known, first, second)


def _evaluated(index: FileIndex) -> set[str]:
    trained: list[ast.expr] = []
    judged: list[ast.expr] = []
    for loop in (one for one in index.loops if isinstance(one, ast.For)):
        given = [loop.iter, *_handed_to(loop)]
        if calls_in(loop, *LEARNS):
            trained += given
        elif is_without_gradients(loop) or any(map(without_gradients, within(loop, ast.With))):
            judged += given
    for call in index.calls:
        if called(call) == "fit":
            trained += call.args
            judged += given_as([call], "validation_data")
        elif called(call) in JUDGES:
            judged += call.args
    for first, second in pairs(index):
        trained.append(first)
        judged.append(second)
    return names_that_reach(index, judged) - names_that_reach(index, trained)


def _handed_to(loop: ast.For) -> Iterator[ast.expr]:
    """What calls give the function around a loop for the argument that it goes through."""
    function = function_of(loop)
    if isinstance(function, ast.FunctionDef):
        for name in names(loop.iter):
            yield from handed(function, name)
