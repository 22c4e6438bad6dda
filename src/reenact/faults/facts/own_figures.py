"""Held-out rows that are scaled by figures of their own, as far as the text tells: a mean and a deviation, or
the ends of a range, that are taken of the very rows they are applied to, in one split after the other."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TypeVar

from reenact.faults.facts.flow import elements, maker_of, stores
from reenact.faults.facts.lines import function_of, place_in, value_of
from reenact.faults.facts.parts import Found, called, subject_of, within
from reenact.faults.facts.splits import apart
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex

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
T = TypeVar("T")
LIBRARIES = ("sklearn.preprocessing", "scipy.stats", "sklearn", "scipy")


def scaled_by_themselves(files: Sequence[FileIndex]) -> Found:
    """Where rows are scaled by their own figures, held-out ones as well as others, and what
    says so.
    """
    for index in files:
        scaled: list[tuple[ast.expr, ast.expr]] = [*_scaled(index), *_by_library(index)]
        for (_, first), (taken, second) in _both_ways(scaled):
            if apart(index, first, second):
                yield (
                    place_in(index, taken),
                    f"{excerpt(second)} is scaled by its own figures, apart from {excerpt(first)}",
                )
                break
        for taken, rows in scaled:
            held = held_out_in_turn(files, index, taken, rows)
            if held is not None:
                saw = f"{excerpt(held)} is scaled by its own figures, apart from the training rows"
                yield place_in(index, taken), saw
                break


def held_out_in_turn(
    files: Sequence[FileIndex],
    index: FileIndex,
    node: ast.expr,
    rows: ast.expr,
) -> ast.expr | None:
    """The held-out rows of a loop over splits, or of calls of the function around, that come to
    what is done to `rows` there after the training rows did.
    """
    if not isinstance(rows, ast.Name):
        return None
    for above in index.ancestors(node):
        if isinstance(above, ast.FunctionDef):
            return _handed_in(files, index, above, rows.id)
        for loop in [above] if isinstance(above, ast.For) else getattr(above, "generators", []):
            parts = elements(loop.iter)
            if isinstance(loop.target, ast.Name) and same(loop.target, rows):
                for first, second in combinations(parts, 2):
                    if apart(index, first, second):
                        return second
    return None


def _handed_in(
    files: Sequence[FileIndex], index: FileIndex, function: ast.FunctionDef, name: str
) -> ast.expr | None:
    """The held-out rows of two calls of a function that differ in nothing but the split."""
    if name not in _arguments(function):
        return None
    maker = maker_of(index, function)
    for file in files:
        calls = [call for call in file.calls if called(call) == maker and call.args]
        for first, second in _both_ways(calls):
            if apart(file, first, second):
                return second.args[0]
    return None


def _both_ways(things: Sequence[T]) -> Iterator[tuple[T, T]]:
    for first, second in combinations(things, 2):
        yield first, second
        yield second, first


def _scaled(index: FileIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Where a figure of rows that are shifted and spread by it is taken, and the rows."""
    for node in within(index.tree, ast.BinOp):
        match node:
            case ast.BinOp(ast.BinOp(rows, ast.Sub(), shift), ast.Div(), spread):
                taken = _figures(index, shift)
                spreads = _figures(index, spread)
                own = [subject_of(call) for call in (*taken, *spreads) if not _row_wise(call)]
                alike = [subject for subject in own if same(subject, rows)]
                if taken and spreads and len(alike) == len(taken) + len(spreads):
                    yield taken[0], rows


def _by_library(index: FileIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    for call in index.calls:
        if called(call) in SCALING and call.args and not _row_wise(call) and _imported(index, call):
            yield call, call.args[0]


def _imported(index: FileIndex, call: ast.Call) -> bool:
    """Whether a function of this name is the library's."""
    wanted = (called(call), "preprocessing", "stats")
    return any(
        alias.name in wanted
        for statement in within(index.tree, ast.ImportFrom)
        if statement.module in LIBRARIES
        for alias in statement.names
    )


def _figures(index: FileIndex, node: ast.expr) -> list[ast.Call]:
    """The calls that a figure is computed by; empty where it is given from outside."""
    figures: list[ast.Call] = []
    for part in _parts(node):
        value = _own_value(index, part)
        calls = [call for call in within(value, ast.Call) if called(call) in FIGURES]
        if isinstance(value, ast.IfExp | ast.BoolOp) or not calls:
            return []
        figures += calls
    return figures


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The terms of a figure, without what is added to a term to keep it from zero."""
    if not isinstance(node, ast.BinOp):
        if not isinstance(node, ast.Constant):
            yield node
        return
    sides = [node.left, node.right]
    if isinstance(node.op, ast.Add) and any(within(node.left, ast.Call)):
        sides = [side for side in sides if any(within(side, ast.Call))]
    for side in sides:
        yield from _parts(side)


def _own_value(index: FileIndex, node: ast.expr) -> ast.expr:
    """What a variable or an attribute was given in the function that it is read in."""
    owner = function_of(index, node)
    if isinstance(node, ast.Name):
        value = value_of(index, node)
        if node.id not in _arguments(owner) and function_of(index, value) is owner:
            return value
        return node
    if isinstance(node, ast.Attribute):
        values = [value for target, value in stores(owner) if same(target, node)]
        return values[0] if len(values) == 1 else node
    return node


def _arguments(function: ast.AST) -> set[str]:
    if isinstance(function, ast.FunctionDef):
        return {argument.arg for argument in function.args.args}
    return set()


def _row_wise(call: ast.Call) -> bool:
    """Whether every row, window or image has its own figures."""
    given = [word.value for word in call.keywords if word.arg in ("axis", "dim")]
    return any(0 not in axes for axes in map(_axes, (*given, *call.args)) if axes)


def _axes(node: ast.expr) -> tuple[int, ...]:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError):
        return ()
    axes = value if isinstance(value, tuple | list) else (value,)
    return tuple(axis for axis in axes if type(axis) is int)
