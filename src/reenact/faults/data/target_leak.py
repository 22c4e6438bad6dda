"""DA10 target-leak

What
    A feature of a forecast is made of values that come later: a centred moving average or filter beside the
    series that is forecast, a lag that is shifted the wrong way, a window that reaches to its own target.
Why
    The model is given a part of the answer, which nobody has when the forecast is wanted.
Symptom
    Errors far below those of the last value, in training and validation; useless forecasts afterwards.
Example
    import numpy as np
    import torch
    from torch import nn

    rng = np.random.default_rng(0)
    level = rng.normal(size=600).cumsum() / 10
    trend = np.convolve(level, np.ones(5) / 5, mode="same")
    features = np.stack([level, trend], axis=1)
    x, next_level = torch.tensor(features[:-1]).float(), torch.tensor(level[1:]).float()
    model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(60):
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x[:400])[:, 0], next_level[:400]).backward()
        optimizer.step()
Instead
    - trend = np.convolve(level, np.ones(5) / 5, mode="same")
    + trend = np.convolve(level, np.ones(5) / 5)[:len(level)]
Fix safety
    Safe for the training; measured results change, they were wrong.
Sources
    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based Science", 2023
    (temporal leakage).
"""

import ast
from collections.abc import Iterator, Sequence
from itertools import product

from reenact.faults import (
    Category,
    Certainty,
    Detector,
    Evidence,
    Fault,
    Findings,
    Needs,
    Observes,
    Severity,
)
from reenact.faults.facts.flow import assigned, elements, stores
from reenact.faults.facts.lines import indexes, place_in
from reenact.faults.facts.parts import all_parts, called, is_call, names, owner_of, within
from reenact.faults.facts.roles import names_that_reach, targets
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.scope import children

SMOOTHERS = (
    "uniform_filter1d",
    "gaussian_filter1d",
    "savgol_filter",
    "medfilt",
    "median_filter",
)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
MOVED = ("rolling", "convolve", "shift", "roll")
FIGURES = ("mean", "std", "sum", "median", "max", "min", "var")
KEPT = (*FIGURES, "fillna", "ffill", "to_numpy", "astype", "dropna")
"""What may be done to a shifted or averaged series without making it another."""
Linear = list[tuple[ast.expr, int]]
"""A sum: its terms with their signs."""
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
FAULT = Fault(
    code="DA10",
    name="target-leak",
    category=Category.DATA,
    page=__doc__,
)


@FAULT.detector(
    "RE063",
    "target-leak",
    "reenact",
    needs=Needs.SOURCE,
    observes=Observes.TEXT,
    why="A feature that is made of later values knows a part of the answer.",
    severity=Severity.ERROR,
    confidence=0.85,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def target_leak(detector: Detector, evidence: Evidence) -> Findings:
    """A feature of a forecast is made of values that come later: a centred moving average or filter
    beside the series that is forecast, a lag that is shifted the wrong way, a window that reaches
    to its own target.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023 (temporal leakage).
    """
    for index in indexes(evidence):
        for node, saw in (*_look_ahead(index), *_windows_with_target(index)):
            yield detector.finding(
                evidence,
                saw,
                place=place_in(index, node),
            )
            return


def _look_ahead(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Features that know later values of a series, in a program that forecasts this series."""
    for target, value in stores(index.tree):
        series, how = _later(value)
        if series is None or not _forecast(index, series, target, value):
            continue
        shifted = called(value) in ("shift", "roll")
        if _beside(index, target, series, arrays_only=shifted):
            saw = f"the feature {excerpt(target)} is {how}"
            yield value, f"{saw}: at each step it knows later values of {excerpt(series)}"


def _later(value: ast.expr) -> tuple[ast.expr | None, str]:
    """The series whose later values an expression gives, if any, and how."""
    while isinstance(value, ast.Subscript) or is_call(value, *KEPT):
        inner = value.value if isinstance(value, ast.Subscript) else value.func
        value = inner.value if isinstance(inner, ast.Attribute) else inner
        if not isinstance(value, ast.Call):
            return None, ""
    if not isinstance(value, ast.Call):
        return None, ""
    given = {word.arg: word.value for word in value.keywords}
    first = value.args[0] if value.args else None
    what = called(value)
    if what == "rolling" and _is(given.get("center"), True):
        return owner_of(value), "a centred window"
    if what == "convolve" and any(_is(one, "same") for one in (*value.args, *given.values())):
        return first, "a centred average (mode='same')"
    if what in SMOOTHERS:
        return first, f"a centred filter ({what})"
    series, steps = _moved(value)
    if steps is not None and isinstance(steps, ast.UnaryOp) and isinstance(steps.op, ast.USub):
        return series, f"{what}ed by {excerpt(steps)}"
    return None, ""


def _is(node: ast.expr | None, value: object) -> bool:
    return isinstance(node, ast.Constant) and node.value == value


def _moved(call: ast.Call) -> tuple[ast.expr | None, ast.expr | None]:
    """What `shift` or `roll` moves, and by how much."""
    if called(call) not in ("shift", "roll"):
        return None, None
    owner = owner_of(call)
    library = isinstance(owner, ast.Name) and owner.id in ("np", "numpy", "torch")
    series, given = (call.args[:1], call.args[1:]) if library else ([owner], call.args)
    stated = [word.value for word in call.keywords if word.arg in ("periods", "shift", "shifts")]
    steps = [*given, *stated]
    return (series[0] if series else None), (steps[0] if steps else None)


def _forecast(index: FileIndex, series: ast.expr, target: ast.expr, value: ast.expr) -> bool:
    """Whether later values of a series are what a loss compares with, or are kept as a column: a
    shift, or rows from a later one on. What goes into the targets itself is no feature.
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
    return isinstance(target, ast.Subscript) and isinstance(target.slice, ast.Constant)


def _beside(index: FileIndex, feature: ast.expr, series: ast.expr, *, arrays_only: bool) -> bool:
    """Whether something is put beside the series it is made of, where features are put together:
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
    match part, wanted:
        case ast.Constant(name), ast.Subscript(_, ast.Constant(column)):
            return bool(name == column)
        case ast.Constant(name), ast.Attribute(_, column):
            return bool(name == column)
    return same(part, wanted)


def _windows_with_target(index: FileIndex) -> Iterator[tuple[ast.expr, str]]:
    """Where a target is taken from its own window, and what says so: `s[i:i + w + 1]` beside
    `s[i + w]`.
    """
    if not any(
        map(
            _bounds,
            within(index.tree, ast.Subscript),
        )
    ):
        return
    for scope in (
        *(one.node for one in index.functions),
        index.tree,
    ):
        own = list(_own_nodes(scope))
        taken = [rows for node in own if (rows := _rows_of(_kept(node))) is not None]
        wanted = [rows for node in own for rows in _wanted(node, own)]
        for target, window in product(wanted, taken):
            if _holds(target, window) and not any(_is_behind(rows, window) for rows in taken):
                saw = f"{excerpt(target)} lies in its own window {excerpt(window)}"
                yield target, saw
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
    elif isinstance(node, ast.Assign) and any(within(node.value, ast.ListComp)):
        values = [node.value]
    if isinstance(given, ast.Tuple) and len(given.elts) == 2:
        last = given.elts[1]
        named = [
            value
            for statement in own
            for target, value in (assigned(statement) if isinstance(statement, ast.Assign) else ())
            if same(target, last)
        ]
        values = named or [last]
    yield from (rows for value in values if (rows := _rows_of(value)) is not None)


def _rows_of(value: ast.expr | None) -> ast.Subscript | None:
    """Rows that are taken of something, as such: not in a sum with others."""
    while isinstance(value, ast.Call):
        value = value.args[0] if value.args else owner_of(value)
    value = value.elt if isinstance(value, ast.ListComp) else value
    return value if isinstance(value, ast.Subscript) else None


def _holds(target: ast.Subscript, window: ast.Subscript) -> bool:
    if not same(window.value, target.value):
        return False
    bounds, (wanted, _) = _bounds(window), _axes(target)
    if bounds is None:
        return False
    begin, end = bounds
    first = wanted
    if isinstance(wanted, ast.Slice):
        if wanted.lower is None or wanted.upper is None or wanted.step is not None:
            return False
        first = wanted.lower
        longer = _gap(wanted.upper, first)
        if _is_zero(_terms(end) + _negative(_terms(begin)) + _negative(longer)):
            # Every token's target is the next one.
            return False
    inside, rest = _summed(_gap(end, first))
    from_begin = _gap(first, begin)
    # A window begins at a variable, as in a loop, and its target at another place.
    starts = any(not isinstance(term, ast.Constant) for term, _ in _terms(begin))
    return not rest and inside > 0 and not _is_zero(from_begin) and starts


def _is_behind(target: ast.Subscript, window: ast.Subscript) -> bool:
    """Whether rows begin where a window of the same series ends, or later."""
    bounds, (wanted, _) = _bounds(window), _axes(target)
    first = wanted.lower if isinstance(wanted, ast.Slice) else wanted
    if bounds is None or first is None or not same(window.value, target.value):
        return False
    distance, rest = _summed(_gap(first, bounds[1]))
    return not rest and distance >= 0


def _bounds(window: ast.Subscript) -> tuple[ast.expr, ast.expr] | None:
    """Begin and end of the rows that a window takes with all their columns; none for anything
    else.
    """
    rows, columns = _axes(window)
    if not isinstance(rows, ast.Slice) or rows.lower is None or rows.upper is None:
        return None
    whole = all(_is_whole(column) for column in columns)
    return (rows.lower, rows.upper) if whole else None


def _is_whole(column: ast.expr) -> bool:
    return isinstance(column, ast.Slice) and column.lower is None and column.upper is None


def _axes(node: ast.Subscript) -> tuple[ast.expr, list[ast.expr]]:
    """Rows, and columns."""
    if isinstance(node.slice, ast.Tuple) and node.slice.elts:
        return node.slice.elts[0], node.slice.elts[1:]
    return node.slice, []


def _terms(node: ast.expr, sign: int = 1) -> Linear:
    match node:
        case ast.BinOp(left, ast.Add(), right):
            return _terms(left, sign) + _terms(right, sign)
        case ast.BinOp(left, ast.Sub(), right):
            return _terms(left, sign) + _terms(right, -sign)
    return [(node, sign)]


def _negative(terms: Linear) -> Linear:
    return [(term, -sign) for term, sign in terms]


def _gap(first: ast.expr, second: ast.expr) -> Linear:
    return _terms(first) + _negative(_terms(second))


def _summed(terms: Linear) -> tuple[int, Linear]:
    """The whole numbers of a sum, and the terms that do not cancel out."""
    total = 0
    rest: Linear = []
    for term, sign in terms:
        opposite = next((one for one in rest if one[1] == -sign and same(one[0], term)), None)
        if isinstance(term, ast.Constant) and isinstance(term.value, int):
            total += sign * term.value
        elif opposite is not None:
            rest.remove(opposite)
        else:
            rest.append((term, sign))
    return total, rest


def _is_zero(terms: Linear) -> bool:
    return _summed(terms) == (0, [])
