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
import re
from collections import Counter
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
from reenact.faults.facts.lines import function_of, indexes, place_in
from reenact.faults.facts.parts import (
    all_parts,
    called,
    is_call,
    names,
    options,
    owner_of,
    within,
    written,
)
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
FORECAST = re.compile(
    r"(?i)forecast|horizon|look_?back|_ahead|\bnext_|next (?:value|step|day|hour)"
)
LAG = re.compile(r"(?:^|_)(?:lag|lagged|prev|previous|past|yesterday)(?:_|\d|$)", re.IGNORECASE)
TARGET = re.compile(
    r"(?:^|_)(?:y|target|label|next|future|lead|ahead|horizon)(?:_|\d|$)", re.IGNORECASE
)
FEATURES = re.compile(r"feat|^x(?:_|s|$)|input|covar|predictor|exog|column|cols", re.IGNORECASE)
NEWEST_FIRST = re.compile(r"ascending ?= ?False|\[::-1\]|\bflip\(")
"""Where the latest row comes first, a shift backwards gives earlier ones."""
TARGETS = re.compile(
    r"(?:^|_)(?:ys?|targets?|labels?|next|future|outputs?)(?:_|\d|$)", re.IGNORECASE
)
"""What a value is kept as that a window is to tell."""
Linear = Counter[str]
"""A sum: how often each term occurs; whole numbers under the empty name."""
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
    files = list(indexes(evidence))
    forecasts = any(FORECAST.search(index.text) for index in files)
    for index in files:
        for node, saw in (
            *_look_ahead(index, forecasts),
            *_windows_with_target(index),
        ):
            yield detector.finding(
                evidence,
                saw,
                place=place_in(index, node),
            )
            return


def _look_ahead(index: FileIndex, forecasts: bool) -> Iterator[tuple[ast.expr, str]]:
    for target, value in stores(index.tree):
        name, (series, how, backwards) = _called_so(target), _later(value)
        if not how or not name or (backwards and NEWEST_FIRST.search(index.text)):
            continue
        if backwards and LAG.search(name):
            yield (
                value,
                f"{name} is {how}: values that come later, under the name of earlier ones",
            )
        elif forecasts and not TARGET.search(name) and _is_feature(index, value, name, series):
            yield (
                value,
                f"the feature {name} is {how}: at each step it knows later values of {series}",
            )


def _later(value: ast.expr) -> tuple[str, str, bool]:
    """The series whose later values an expression gives, if any; how; and whether it is a plain
    shift.
    """
    while isinstance(value, ast.Subscript) or is_call(value, *KEPT):
        inner = value.value if isinstance(value, ast.Subscript) else value.func
        value = inner.value if isinstance(inner, ast.Attribute) else inner
        if not isinstance(value, ast.Call):
            break
    if not is_call(value, *SMOOTHERS, *MOVED):
        return "", "", False
    words = options(value)
    owner = owner_of(value)
    first = ast.unparse(value.args[0]) if value.args else ""
    what = called(value)
    whose = ast.unparse(owner) if owner is not None else ""
    if what == "rolling" and words.get("center") == "True":
        return whose, "a centred window", False
    if what == "convolve" and "'same'" in (
        words.get("mode"),
        *map(ast.unparse, value.args),
    ):
        return first, "a centred average (mode='same')", False
    if what in SMOOTHERS and first:
        return first, f"a centred filter ({what})", False
    library = whose in ("np", "numpy", "torch")
    steps = value.args[1:2] if what == "roll" and library else value.args[:1]
    steps = steps or [
        word.value for word in value.keywords if word.arg in ("periods", "shift", "shifts")
    ]
    match steps:
        case [ast.UnaryOp(ast.USub()), *_] if what in ("shift", "roll"):
            return (
                first if library else whose,
                f"{what}ed by {ast.unparse(steps[0])}",
                True,
            )
    return "", "", False


def _called_so(target: ast.expr) -> str:
    """The name of a variable or of a column."""
    if isinstance(target, ast.Subscript):
        key = target.slice
        parts = key.values if isinstance(key, ast.JoinedStr) else [key]
        return next(
            (str(one.value) for one in parts if isinstance(one, ast.Constant)),
            "",
        )
    return target.id if isinstance(target, ast.Name) else ""


def _is_feature(index: FileIndex, value: ast.expr, name: str, series: str) -> bool:
    """Whether something is put beside the series it is made of, where features are put together."""
    # `load` of `df['load']` and of `df.load`.
    column = re.search(r"\[['\"](\w+)['\"]\]$|\.(\w+)$", series)
    wanted = {
        name,
        (column.group(1) or column.group(2)) if column else series,
    }
    owner = function_of(index, value)
    for node in all_parts(index.tree):
        if wanted <= set(_side_by_side(node)):
            function = function_of(index, node)
            named = function is owner and bool(FEATURES.search(getattr(function, "name", "")))
            statement = next(
                (one for one in index.ancestors(node) if isinstance(one, ast.stmt)),
                node,
            )
            stored = {name for target, _ in assigned(statement) for name in names(target)}
            if named or any(map(FEATURES.search, stored)):
                return True
    return False


def _side_by_side(node: ast.AST) -> Sequence[str]:
    """The names of what stands beside each other: columns in a list of names, arrays that are
    stacked.
    """
    if is_call(node, *STACKS) and node.args:
        return [ast.unparse(one) for one in elements(node.args[0])]
    if isinstance(node, ast.List):
        return [str(one.value) for one in node.elts if isinstance(one, ast.Constant)]
    return ()


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
        values = [one for node in _own_nodes(scope) for one in _stored(node)]
        taken = [
            (node, is_target)
            for value, is_target in values
            if (node := _rows_of(value)) is not None
        ]
        targets, windows = (
            [node for node, target in taken if target is wish] for wish in (True, False)
        )
        for target, window in (pair for pair in product(targets, windows) if _holds(*pair)):
            yield (
                target,
                f"{ast.unparse(target)} lies in its own window {ast.unparse(window)}",
            )
            break


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a function or file, without the functions within it."""
    for child in children(scope):
        if not isinstance(child, DEFINITIONS):
            yield child
            yield from _own_nodes(child)


def _stored(node: ast.AST) -> Iterator[tuple[ast.expr, bool]]:
    """Values that are kept, and whether as targets: by name, or as the second of a pair."""
    for target, value in assigned(node) if isinstance(node, ast.stmt) else ():
        kept = [one for one in all_parts(target) if isinstance(one, ast.Name | ast.Attribute)]
        if not isinstance(value, ast.Tuple) and len(kept) == 1:
            yield value, _is_target(kept[0])
    given = node.value if isinstance(node, ast.Return | ast.Yield) else None
    owner = owner_of(node) if is_call(node, "append") and node.args else None
    if owner is not None and isinstance(node, ast.Call):
        given = node.args[0]
    if isinstance(given, ast.Tuple) and len(given.elts) == 2:
        yield from (
            (given.elts[0], False),
            (given.elts[1], True),
        )
    elif given is not None and owner is not None:
        yield given, _is_target(owner)


def _is_target(node: ast.AST) -> bool:
    return bool(TARGETS.search(written(node).rpartition(".")[2]))


def _rows_of(value: ast.expr | None) -> ast.Subscript | None:
    """Rows that are taken of something, as such: not in a sum with others."""
    while isinstance(value, ast.Call):
        value = value.args[0] if value.args else owner_of(value)
    value = value.elt if isinstance(value, ast.ListComp) else value
    return value if isinstance(value, ast.Subscript) else None


def _holds(target: ast.Subscript, window: ast.Subscript) -> bool:
    if ast.unparse(window.value) != ast.unparse(target.value):
        return False
    bounds, (wanted, _) = _bounds(window), _axes(target)
    if bounds is None:
        return False
    begin, end = map(_linear, bounds)
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


def _bounds(window: ast.Subscript) -> tuple[ast.expr, ast.expr] | None:
    """Begin and end of the rows that a window takes with all their columns; none for anything
    else.
    """
    rows, columns = _axes(window)
    if not isinstance(rows, ast.Slice) or rows.lower is None or rows.upper is None:
        return None
    return (rows.lower, rows.upper) if columns in ("", ":") else None


def _axes(node: ast.Subscript) -> tuple[ast.expr, str]:
    """Rows, and columns as they are written."""
    if isinstance(node.slice, ast.Tuple) and node.slice.elts:
        return node.slice.elts[0], ", ".join(ast.unparse(one) for one in node.slice.elts[1:])
    return node.slice, ""


def _linear(node: ast.expr, sign: int = 1) -> Linear:
    match node:
        case ast.BinOp(left, ast.Add() | ast.Sub(), right):
            total = _linear(left, sign)
            total.update(
                _linear(
                    right,
                    sign if isinstance(node.op, ast.Add) else -sign,
                )
            )
            return total
        case ast.Constant(int(value)):
            return Counter({"": sign * value})
    return Counter({ast.unparse(node): sign})


def _gap(first: Linear, second: Linear) -> Linear:
    total = Counter(first)
    total.subtract(second)
    return Counter({name: count for name, count in total.items() if count})
