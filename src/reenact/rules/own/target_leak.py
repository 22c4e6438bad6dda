"""RE063 target-leak

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
from collections.abc import Iterator, Sequence

from reenact.program.read.index import FileIndex
from reenact.rules import Culprit, Evidence, Findings, Needs
from reenact.rules.own._lines import function_of, indexes, place_in
from reenact.rules.own._parts import (
    all_parts,
    assigned,
    called,
    elements,
    is_call,
    names,
    options,
    owner_of,
    stores,
)
from reenact.rules.own._windows import windows_with_target

SMOOTHERS = ("uniform_filter1d", "gaussian_filter1d", "savgol_filter", "medfilt", "median_filter")
FIGURES = ("mean", "std", "sum", "median", "max", "min", "var")
KEPT = (*FIGURES, "fillna", "ffill", "to_numpy", "astype", "dropna")
"""What may be done to a shifted or averaged series without making it another."""
FORECAST = re.compile(
    r"forecast|horizon|look_?back|_ahead|\bnext_|next (?:value|step|day|hour)", re.IGNORECASE
)
LAG = re.compile(r"(?:^|_)(?:lag|lagged|prev|previous|past|yesterday)(?:_|\d|$)", re.IGNORECASE)
TARGET = re.compile(r"(?:^|_)(?:y|target|label|next|future|lead|ahead|horizon)(?:_|\d|$)", re.IGNORECASE)
FEATURES = re.compile(r"feat|^x(?:_|s|$)|input|covar|predictor|exog|column|cols", re.IGNORECASE)
NEWEST_FIRST = re.compile(r"ascending ?= ?False|\[::-1\]|\bflip\(")
"""Where the latest row comes first, a shift backwards gives earlier ones."""
STACKS = ("stack", "column_stack", "concatenate", "cat", "hstack", "vstack", "dstack", "array")


class TargetLeak(Culprit):
    code, name, family = "RE063", "target-leak", "reenact"
    needs, confidence = Needs.SOURCE, 0.85
    why = "A feature that is made of later values knows a part of the answer."

    def check(self, evidence: Evidence) -> Findings:
        files = list(indexes(evidence))
        forecasts = any(FORECAST.search(index.text) for index in files)
        for index in files:
            for node, saw in (*_look_ahead(index, forecasts), *windows_with_target(index)):
                yield self.finding(evidence, saw, place=place_in(index, node))
                return


def _look_ahead(index: FileIndex, forecasts: bool) -> Iterator[tuple[ast.expr, str]]:
    for target, value in stores(index.tree):
        name, (series, how, backwards) = _called_so(target), _later(value)
        if not how or not name or (backwards and NEWEST_FIRST.search(index.text)):
            continue
        if backwards and LAG.search(name):
            yield value, f"{name} is {how}: values that come later, under the name of earlier ones"
        elif forecasts and not TARGET.search(name) and _is_feature(index, value, name, series):
            yield value, f"the feature {name} is {how}: at each step it knows later values of {series}"


def _later(value: ast.expr) -> tuple[str, str, bool]:
    """The series whose later values an expression gives, if any; how; and whether it is a plain shift."""
    while isinstance(value, ast.Subscript) or is_call(value, *KEPT):
        inner = value.value if isinstance(value, ast.Subscript) else value.func
        value = inner.value if isinstance(inner, ast.Attribute) else inner
        if not isinstance(value, ast.Call):
            break
    if not isinstance(value, ast.Call):
        return "", "", False
    words, owner = options(value), owner_of(value)
    first = ast.unparse(value.args[0]) if value.args else ""
    what, whose = called(value), ast.unparse(owner) if owner is not None else ""
    if what == "rolling" and words.get("center") == "True":
        return whose, "a centred window", False
    if what == "convolve" and "'same'" in (words.get("mode"), *map(ast.unparse, value.args)):
        return first, "a centred average (mode='same')", False
    if what in SMOOTHERS and first:
        return first, f"a centred filter ({what})", False
    library = whose in ("np", "numpy", "torch")
    steps = value.args[1:2] if what == "roll" and library else value.args[:1]
    steps = steps or [word.value for word in value.keywords if word.arg in ("periods", "shift", "shifts")]
    match steps:
        case [ast.UnaryOp(ast.USub()), *_] if what in ("shift", "roll"):
            return first if library else whose, f"{what}ed by {ast.unparse(steps[0])}", True
    return "", "", False


def _called_so(target: ast.expr) -> str:
    """The name of a variable or of a column."""
    if isinstance(target, ast.Subscript):
        key = target.slice
        parts = key.values if isinstance(key, ast.JoinedStr) else [key]
        return next((str(one.value) for one in parts if isinstance(one, ast.Constant)), "")
    return target.id if isinstance(target, ast.Name) else ""


def _is_feature(index: FileIndex, value: ast.expr, name: str, series: str) -> bool:
    """Whether something is put beside the series it is made of, where features are put together."""
    wanted = {name, _column(series) or series}
    owner = function_of(index, value)
    for node in all_parts(index.tree):
        if wanted <= set(_side_by_side(node)):
            function = function_of(index, node)
            named = function is owner and bool(FEATURES.search(getattr(function, "name", "")))
            if named or any(FEATURES.search(word) for word in _stored_as(index, node)):
                return True
    return False


def _side_by_side(node: ast.AST) -> Sequence[str]:
    """The names of what stands beside each other: columns in a list of names, arrays that are stacked."""
    if is_call(node, *STACKS) and node.args:
        return [ast.unparse(one) for one in elements(node.args[0])]
    if isinstance(node, ast.List):
        return [str(one.value) for one in node.elts if isinstance(one, ast.Constant)]
    return ()


def _stored_as(index: FileIndex, node: ast.AST) -> set[str]:
    """What the value that a node is a part of is called."""
    statement = next((one for one in index.ancestors(node) if isinstance(one, ast.stmt)), node)
    return {name for target, _ in assigned(statement) for name in names(target)}


def _column(series: str) -> str:
    """`load` of `df['load']` and of `df.load`."""
    found = re.search(r"\[['\"](\w+)['\"]\]$|\.(\w+)$", series)
    return (found.group(1) or found.group(2)) if found else ""
