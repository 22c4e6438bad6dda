"""Held-out rows that are scaled by figures of their own, as far as the text says: a mean and a deviation, or
the ends of a range, that are taken of the very rows they are applied to, in one split after the other."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import calls_of, parameter_of, stores, value_of
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    called,
    calls_in,
    elements,
    file_of,
    function_of,
    given_as,
    subject_of,
    within,
)
from reenact.program.training.rows.splits import apart

FIGURES = (
    "mean",
    "std",
    "min",
    "max",
    "amin",
    "amax",
    "nanmean",
    "nanstd",
    "var",
    "median",
    "quantile",
)
SCALING = (
    "scale",
    "minmax_scale",
    "robust_scale",
    "quantile_transform",
    "power_transform",
    "zscore",
)
"""Functions of scikit-learn and SciPy that scale by the figures of what they are given."""
LIBRARIES = ("sklearn.preprocessing", "scipy.stats", "sklearn", "scipy")


def scaled_by_themselves(files: Sequence[FileIndex]) -> Found:
    """Where rows are scaled by their own figures, held-out ones as well as others, and what
    says so.
    """
    for index in files:
        scaled: list[tuple[ast.expr, ast.expr]] = [*_scaled(index), *_by_library(index)]
        for (_, first), (taken, second) in permutations(scaled, 2):
            if apart(first, second):
                rest = excerpt(first)
                yield taken, f"{excerpt(second)} is scaled by its own figures, apart from {rest}"
                break
        for taken, rows in scaled:
            held = held_out_in_turn(files, taken, rows)
            if held is not None:
                rest = "the training rows"
                yield taken, f"{excerpt(held)} is scaled by its own figures, apart from {rest}"
                break


def held_out_in_turn(files: Sequence[FileIndex], node: ast.expr, rows: ast.expr) -> ast.expr | None:
    """The held-out rows of a loop over splits, or of calls of the function around, that come to
    what is done to `rows` there after the training rows did.
    """
    if not isinstance(rows, ast.Name):
        return None
    for above in file_of(node).ancestors(node):
        if isinstance(above, ast.FunctionDef):
            return _handed_in(files, above, rows.id)
        for loop in [above] if isinstance(above, ast.For) else getattr(above, "generators", []):
            if isinstance(loop.target, ast.Name) and same(loop.target, rows):
                for first, second in combinations(elements(loop.iter), 2):
                    if apart(first, second):
                        return second
    return None


def _handed_in(files: Sequence[FileIndex], function: ast.FunctionDef, name: str) -> ast.expr | None:
    """The held-out rows of two calls of a function that differ in nothing but the split."""
    if parameter_of(function, name) is None:
        return None
    for file in files:
        calls = [call for call in calls_of(function, [file]) if call.args]
        for first, second in permutations(calls, 2):
            if apart(first, second):
                return second.args[0]
    return None


def _scaled(index: FileIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Where a figure of rows that are shifted and spread by it is taken, and the rows."""
    for node in within(index.tree, ast.BinOp):
        match node:
            case ast.BinOp(ast.BinOp(rows, ast.Sub(), shift), ast.Div(), spread):
                taken = _figures(shift)
                spreads = _figures(spread)
                own = [subject_of(call) for call in (*taken, *spreads) if not _row_wise(call)]
                alike = [subject for subject in own if same(subject, rows)]
                if taken and spreads and len(alike) == len(taken) + len(spreads):
                    yield taken[0], rows


def _by_library(index: FileIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What functions of a library scale that the file imports by name."""
    homes = [one for one in within(index.tree, ast.ImportFrom) if one.module in LIBRARIES]
    imported = {alias.name for one in homes for alias in one.names}
    for call in calls_in(index.tree, *SCALING):
        known = not imported.isdisjoint((called(call), "preprocessing", "stats"))
        if known and call.args and not _row_wise(call):
            yield call, call.args[0]


def _figures(node: ast.expr) -> list[ast.Call]:
    """The calls that a figure is computed by; empty where it is given from outside."""
    figures: list[ast.Call] = []
    for part in _parts(node):
        value = _own_value(part)
        calls = calls_in(value, *FIGURES)
        if isinstance(value, ast.IfExp | ast.BoolOp) or not calls:
            return []
        figures += calls
    return figures


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a figure, without what is added to a term to keep it from zero."""
    if not isinstance(node, ast.BinOp):
        if constant_of(node) is None:
            yield node
        return
    sides = [node.left, node.right]
    if isinstance(node.op, ast.Add) and any(within(node.left, ast.Call)):
        sides = [side for side in sides if any(within(side, ast.Call))]
    for side in sides:
        yield from _parts(side)


def _own_value(node: ast.expr) -> ast.expr:
    """What a variable or an attribute was given in the function that it is read in."""
    owner = function_of(node)
    if isinstance(node, ast.Name):
        value = value_of(node)
        given = isinstance(owner, ast.FunctionDef) and parameter_of(owner, node.id) is not None
        if given or function_of(value) is not owner:
            return node
        return value
    values = [value for target, value in stores(owner) if same(target, node)]
    if len(values) == 1 and isinstance(node, ast.Attribute):
        return values[0]
    return node


def _row_wise(call: ast.Call) -> bool:
    """Whether every row, window or image has its own figures."""
    given = given_as([call], "axis", "dim")
    return any(0 not in axes for axes in map(_axes, (*given, *call.args)) if axes)


def _axes(node: ast.expr) -> tuple[int, ...]:
    try:
        value = ast.literal_eval(read_through(node))
    except (ValueError, TypeError):
        return ()
    axes = value if isinstance(value, tuple | list) else (value,)
    return tuple(axis for axis in axes if type(axis) is int)
