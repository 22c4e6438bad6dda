"""Is this code evaluating, or training? Said by `no_grad`, by a function's name, by a variable's name."""

from __future__ import annotations

import ast
import re

from reenact.program.read.analysis import ProgramAnalysis
from reenact.program.read.scope import Scope

WITHOUT_GRADIENTS = frozenset(("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad"))
EVALUATES = re.compile(
    r"(^|_)(val|valid|validate|validation|test|testing|eval|evaluate|evaluation|predict|dev|holdout|held)(_|$|\d)"
)
TRAINS = re.compile(r"(^|_)(train|training|fit)(_|$|\d|set|loader|ing)")


def is_evaluation(analysis: ProgramAnalysis, node: ast.AST, scope: Scope) -> bool:
    """True under `torch.no_grad()` or in a function that is named after evaluation."""
    return without_gradients(analysis, node, scope) or _named_after_evaluation(scope)


def without_gradients(analysis: ProgramAnalysis, node: ast.AST, scope: Scope) -> bool:
    index = analysis.sources.index(scope)
    return any(_is_silent(analysis, part, scope) for part in index.ancestors(node))


def _is_silent(analysis: ProgramAnalysis, node: ast.AST, scope: Scope) -> bool:
    """A `with torch.no_grad():` or a function decorated with it."""
    marks: list[ast.expr] = []
    if isinstance(node, ast.With | ast.AsyncWith):
        marks = [item.context_expr for item in node.items]
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        marks = node.decorator_list
    return any(_no_grad(analysis, mark, scope) for mark in marks)


def _no_grad(analysis: ProgramAnalysis, node: ast.expr, scope: Scope) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    return analysis.sources.dotted(called, scope) in WITHOUT_GRADIENTS


def _named_after_evaluation(scope: Scope) -> bool:
    function = scope.enclosing_function()
    return function is not None and speaks_of_evaluation(function.name)


def speaks_of_evaluation(*names: str) -> bool:
    """True when names say validation or test and none says training."""
    words = [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names if name]
    return any(EVALUATES.search(_spread(word)) for word in words) and not any(
        TRAINS.search(_spread(word)) for word in words
    )


def _spread(word: str) -> str:
    """`testloader` and `valid_loader` alike: `test_loader`."""
    return re.sub(r"(loader|dl|set|data|ds|iter|gen|dataloader)$", r"_\1", word)
