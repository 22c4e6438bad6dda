"""Where outputs and labels meet a loss."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reenact.program.read.analysis import ProgramAnalysis, Site
from reenact.program.read.calls import argument, keyword, method_name
from reenact.program.read.scope import Scope

FITS = frozenset(("fit", "evaluate", "fit_generator", "train_on_batch", "test_on_batch"))
SHAPING = frozenset(("view", "reshape", "flatten", "squeeze", "unsqueeze", "float", "transpose", "permute"))


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """One place where labels are given; the outputs beside them where both stand in one call."""

    labels: ast.expr
    scope: Scope
    outputs: ast.expr | None = None


def meetings(analysis: ProgramAnalysis, site: Site) -> list[Meeting]:
    """Every place that hands labels to this loss."""
    return list(_torch(analysis, site) if site.library == "torch" else _keras(analysis, site))


def _torch(analysis: ProgramAnalysis, site: Site) -> Iterator[Meeting]:
    """The second argument wherever the loss is called."""
    call = site.call
    assert call is not None
    assert site.callee is not None
    if site.callee.dotted.startswith("torch.nn.functional."):
        target = argument(call, 1, "target")
        if target is not None:
            yield Meeting(target, site.scope, argument(call, 0, "input"))
        return
    for other, scope, _ in analysis.calls():
        if other is call or len(other.args) < 2 or not isinstance(other.func, ast.Name | ast.Attribute):
            continue
        if any(made.call is call for made in analysis.callees.made(other.func, scope)):
            yield Meeting(other.args[1], scope, other.args[0])


def _keras(analysis: ProgramAnalysis, site: Site) -> Iterator[Meeting]:
    """Labels given to fit and evaluate, inside `validation_data`, and to the loss object itself."""
    for call, scope, _ in analysis.calls():
        if method_name(call) in FITS:
            held = keyword(call, "validation_data")
            given = [argument(call, 1, "y")]
            if isinstance(held, ast.Tuple | ast.List) and len(held.elts) >= 2:
                given.append(held.elts[1])
            for labels in given:
                own = part_of(labels, site.output) if isinstance(labels, ast.Dict) else labels
                if own is not None:
                    yield Meeting(own, scope)
        elif (
            call is not site.call and len(call.args) >= 2 and isinstance(call.func, ast.Name | ast.Attribute)
        ) and any(made.call is site.call for made in analysis.callees.made(call.func, scope)):
            yield Meeting(call.args[0], scope, call.args[1])


def part_of(given: ast.Dict, output: str) -> ast.expr | None:
    """Of what is given by the names of outputs, that of this one."""
    for key, value in zip(given.keys, given.values, strict=True):
        if output and isinstance(key, ast.Constant) and key.value == output:
            return value
    return None


def can_be_repeated(node: ast.expr) -> bool:
    """A name, or a name in another shape: writing it twice computes nothing twice."""
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute):
        return can_be_repeated(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SHAPING:
        return can_be_repeated(node.func.value)
    return False


def caller_of(outputs: ast.expr | None) -> str:
    """The name that is called to give the outputs: `net` of `net(x).squeeze()`; empty when it is none."""
    while isinstance(outputs, ast.Call) and isinstance(outputs.func, ast.Attribute):
        if outputs.func.attr not in SHAPING:
            return ""
        outputs = outputs.func.value
    if isinstance(outputs, ast.Call) and isinstance(outputs.func, ast.Name):
        return outputs.func.id
    return ""
