"""Features that are made of later values of the series that is forecast: centred averages and filters,
lags that are shifted the wrong way."""

import ast
from collections.abc import Sequence

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import names_that_reach, stores
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    elements,
    given_as,
    given_to,
    is_call,
    is_constant,
    is_minus,
    keyword,
    names,
    owner_of,
    subject_of,
)
from reenact.program.training.roles import targets

SMOOTHERS = (
    "uniform_filter1d",
    "gaussian_filter1d",
    "savgol_filter",
    "medfilt",
    "median_filter",
)


SHIFTS = ("shift", "roll")


FIGURES = ("mean", "std", "sum", "median", "max", "min", "var")


KEPT = (*FIGURES, "fillna", "ffill", "to_numpy", "astype", "dropna")
"""What may be done to a shifted or averaged series without making it another."""


STACKS = (
    "stack",
    "column_stack",
    "concatenate",
    "cat",
    "hstack",
    "vstack",
    "dstack",
    "array",
)


def look_ahead(index: FileIndex) -> Found:
    """Features that know later values of a series, in a program that forecasts this series."""
    for target, value in stores(index.tree):
        series, how = _later(value)
        if series is None or not _forecast(index, series, target, value):
            continue
        if _beside(index, target, series, arrays_only=is_call(value, *SHIFTS)):
            saw = f"the feature {excerpt(target)} is {how}"
            yield value, f"{saw}: at each step it knows later values of {excerpt(series)}"


def _later(value: ast.expr) -> tuple[ast.expr | None, str]:
    """The series whose later values an expression gives, if any, and how."""
    while isinstance(value, ast.Subscript) or is_call(value, *KEPT):
        inner = value.value if isinstance(value, ast.Subscript) else value.func
        value = inner.value if isinstance(inner, ast.Attribute) else inner
    if not isinstance(value, ast.Call):
        return None, ""
    first = value.args[0] if value.args else None
    what = called(value)
    if what == "rolling" and is_constant(constant_of(keyword(value, "center")), True):
        return owner_of(value), "a centred window"
    given = map(constant_of, given_to(value))
    if what == "convolve" and any(is_constant(one, "same") for one in given):
        return first, "a centred average (mode='same')"
    if what in SMOOTHERS:
        return first, f"a centred filter ({what})"
    series, steps = _moved(value)
    if is_minus(steps):
        return series, f"{what}ed by {excerpt(steps)}"
    return None, ""


def _moved(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What `shift` or `roll` moves, and by how much."""
    if not is_call(call, *SHIFTS):
        return None, None
    series = subject_of(call)
    given = [one for one in call.args if one is not series]
    steps = [*given, *given_as([call], "periods", "shift", "shifts")]
    return series, read_through(steps[0]) if steps else None


def _forecast(
    index: FileIndex,
    series: ast.expr,
    target: ast.expr,
    value: ast.expr,
) -> bool:
    """Whether later values of a series are what a loss compares with, or are kept as a column: a
    shift, or rows from a later one on. What goes into the targets itself is not a feature.
    """
    ends = targets(index)
    reached = names_that_reach(index, ends)
    if isinstance(target, ast.Name) and target.id in reached:
        return False
    made = [
        other
        for stored, other in stores(index.tree)
        if other is not value and (_is_column(stored) or reached & names(stored))
    ]
    return any(_is_later(part, series) for one in (*ends, *made) for part in all_parts(one))


def _is_later(node: ast.AST, series: ast.expr) -> bool:
    match node:
        case ast.Subscript(rows, ast.Slice(ast.expr(), None, None)):
            return same(rows, series)
        case ast.Call():
            moved, steps = _moved(node)
            return isinstance(steps, ast.UnaryOp) and same(moved, series)
    return False


def _is_column(target: ast.expr) -> bool:
    return isinstance(target, ast.Subscript) and constant_of(target.slice) is not None


def _beside(
    index: FileIndex,
    feature: ast.expr,
    series: ast.expr,
    *,
    arrays_only: bool,
) -> bool:
    """Whether something is put next to the series it is made of, where features are put together:
    columns in a list of names, arrays that are stacked.
    """
    for node in all_parts(index.tree):
        parts: Sequence[ast.expr] = ()
        if is_call(node, *STACKS) and node.args:
            parts = elements(node.args[0])
        elif isinstance(node, ast.List) and not arrays_only:
            parts = node.elts
        if all(any(_names(part, wanted) for part in parts) for wanted in (feature, series)):
            return True
    return False


def _names(part: ast.expr, wanted: ast.expr) -> bool:
    """Whether a part of a list is a variable, or the name of a column: `load` of `df['load']`."""
    name = constant_of(part)
    if name is None:
        return same(part, wanted)
    if isinstance(wanted, ast.Attribute):
        return bool(name.value == wanted.attr)
    column = constant_of(wanted.slice) if isinstance(wanted, ast.Subscript) else None
    if column is None:
        return same(part, wanted)
    return bool(name.value == column.value)
