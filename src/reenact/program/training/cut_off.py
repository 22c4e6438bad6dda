"""Where a program keeps gradients from weights: blocks without gradients, what is detached, emptied, replaced
or frozen."""

import ast
from collections.abc import Iterator, Sequence

from reenact.program.flow.constants import constant_of
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex, statement_of
from reenact.program.syntax.lines import calls, first_place, nodes
from reenact.program.syntax.pieces import (
    around,
    called,
    calls_in,
    function_of,
    given_to,
    is_call,
    is_constant,
    is_method,
    names,
    owner_of,
    place_of,
    within,
)
from reenact.program.training.roles import LOSS_STEPS, losses, without_gradients
from reenact.types import Place

PASSES = ("forward", "call", *LOSS_STEPS)
"""Functions that a framework calls for a step."""


def emptied(files: Sequence[FileIndex]) -> Iterator[ast.Call]:
    """Calls of `zero_grad` between the `backward` and the `step` of one optimizer, in one loop."""
    wanted = ("backward", "zero_grad", "step")
    for loop in (one for index in files for one in index.loops):
        made = calls_in(loop, *wanted)
        made.sort(key=lambda call: (call.lineno, call.col_offset))
        for before, call, then in zip(made, made[1:], made[2:], strict=False):
            in_order = (called(before), called(call), called(then)) == wanted
            moved = (owner_of(then), *then.args)
            if in_order and any(same(owner_of(call), one) for one in moved):
                yield call


def cut_at(files: Sequence[FileIndex], weight: str) -> Place | None:
    """Where a training passes a part of a model without gradients: a function or a block that says
    so. Functions that only generate or evaluate say so rightly.
    """
    part = weight.partition(".")[0]
    ends = {called(one) for index in files for one in losses(index)}
    functions = nodes(files, ast.FunctionDef)
    ways = [one for one in functions if one.name in (*PASSES, *ends)]
    passed = set(PASSES)
    for way in ways:
        passed.update(map(called, calls_in(way)))
    for node in nodes(files, ast.stmt):
        stated = without_gradients(node)
        owner = node if isinstance(node, ast.FunctionDef) else function_of(node)
        if stated and getattr(owner, "name", "") in passed:
            used = any(one.attr == part for one in within(node, ast.Attribute))
            if used or _leaves(node, owner if owner in ways else node):
                return place_of(stated[0])
    return None


def detached_at(files: Sequence[FileIndex]) -> Place | None:
    """Where the way of a training leaves its gradients behind; what is only counted or printed
    may.
    """
    for call in calls(files, "detach"):
        counted = any(is_call(one, "item", "append", "float") for one in around(call))
        if not counted and not isinstance(statement_of(call), ast.AugAssign | ast.Expr):
            return place_of(call)
    return None


def _leaves(block: ast.AST, function: ast.AST) -> bool:
    """Whether a block computes something again that the function reads after it."""
    last = block.end_lineno if isinstance(block, ast.With) else None
    if not last:
        return False
    again = names(block, ast.Store)
    return any(one.id in again and one.lineno > last for one in within(function, ast.Name))


def swapped_at(files: Sequence[FileIndex], weight: str) -> Place | None:
    """Where a part of a model is replaced from outside of it: `model.head = ...`."""
    part = weight.rpartition(".")[0].rpartition(".")[2]
    return first_place(
        node
        for node in nodes(files, ast.Assign)
        if _puts(node.targets[0], part) and not is_method(function_of(node))
    )


def _puts(target: ast.expr, part: str) -> bool:
    match target:
        case ast.Attribute(attr=name):
            return name == part
        case ast.Subscript(slice=ast.expr() as place):
            key = constant_of(place)
            return key is not None and str(key.value) == part
    return False


def always_freezes(node: ast.If) -> bool:
    """`if "bias" or "norm" in name:` before what freezes."""
    if not isinstance(node.test, ast.BoolOp) or not isinstance(node.test.op, ast.Or):
        return False
    texts = [one for one in node.test.values if isinstance(one, ast.Constant) and one.value]
    return bool(texts) and any(map(freezes, node.body))


def freezes(node: ast.stmt) -> bool:
    """Whether a line freezes."""
    match node:
        case ast.Assign([*_, ast.Attribute(attr="requires_grad" | "trainable")], value):
            return is_constant(constant_of(value), False)
        case ast.Expr(ast.Call() as call):
            values = map(constant_of, given_to(call))
            off = any(is_constant(value, False) for value in values)
            return called(call) == "requires_grad_" and off
    return False
