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
from collections.abc import Sequence

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
from reenact.faults.facts.imbalances import imbalances
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
    place_of,
    subject_of,
)
from reenact.program.training.roles import targets
from reenact.program.training.rows.windows import windows_with_target

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
    for index in evidence.files:
        for node, saw in (*_look_ahead(index), *windows_with_target(index)):
            yield detector.finding(evidence, saw, place=place_of(node))
            return


@FAULT.detector(
    "RE114",
    "label-among-the-inputs",
    "reenact",
    needs=Needs.ACCOUNTS,
    observes=Observes.DATA,
    why="What knows a part of the answer is not there when the answer is wanted.",
    severity=Severity.ERROR,
    certainty=Certainty.STRONG,
    is_root_cause=True,
)
def label_among_the_inputs(detector: Detector, evidence: Evidence) -> Findings:
    """A column of the inputs is the label, or one of several series averages later values of the one
    that is forecast, in every row that was seen.

    Kapoor and Narayanan, "Leakage and the Reproducibility Crisis in Machine-Learning-Based
    Science", 2023 (temporal leakage).
    """
    yield from imbalances(detector, evidence)


def _look_ahead(index: FileIndex) -> Found:
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
    return isinstance(target, ast.Subscript) and constant_of(target.slice) is not None


def _beside(
    index: FileIndex,
    feature: ast.expr,
    series: ast.expr,
    *,
    arrays_only: bool,
) -> bool:
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
    name = constant_of(part)
    if name is None:
        return same(part, wanted)
    if isinstance(wanted, ast.Attribute):
        return bool(name.value == wanted.attr)
    column = constant_of(wanted.slice) if isinstance(wanted, ast.Subscript) else None
    if column is None:
        return same(part, wanted)
    return bool(name.value == column.value)
