"""Values that keep their graph from one step to the next: losses that are added up or put into a list as they
are."""

import ast
from collections.abc import Sequence

from reenact.program.flow.constants import read_through
from reenact.program.flow.uses import assigned
from reenact.program.syntax.excerpt import excerpt, same
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    Found,
    all_parts,
    called,
    calls_in,
    function_of,
    is_sum,
    last_word,
    loops_of,
    owner_of,
    place_of,
    returned,
    within,
)
from reenact.program.training.roles import is_loss_call
from reenact.types import Place

ENDS = ("item", "detach", "float", "tolist", "numpy", "cpu", "data")


SWITCHES = ("no_grad", "inference_mode", "set_grad_enabled", "backward", "step")
"""What evaluation without gradients, or a training, calls."""


def kept_graphs(index: FileIndex) -> Found:
    """Where the loss of a step is kept with its graph, and what is done to it."""
    gone_back = {name for call in index.calls for name in _goes_back(call)}
    for call in index.calls:
        if _is_kept(call):
            yield call, excerpt(call)
    for node in within(index.tree, ast.AugAssign):
        if not isinstance(node.op, ast.Add):
            continue
        total = excerpt(node.target)
        added = _name(node.value)
        kept = added in gone_back or _is_evaluated(node)
        if kept and total not in gone_back and not _is_undone(node):
            yield node, f"{total} += {added or excerpt(node.value)}"


def given_at(files: Sequence[FileIndex], name: str) -> Place | None:
    """Where a variable or attribute that holds graphs is given what holds them."""
    last = name.rpartition(".")[2]
    for index in files if last else ():
        for node in within(index.tree, ast.stmt):
            grown = node.value if isinstance(node, ast.Expr) else None
            owner = owner_of(grown) if called(grown) in ("append", "extend", "appendleft") else None
            targets = [
                owner,
                *(target for target, value in assigned(node) if _is_made(value)),
            ]
            held = (one.value if isinstance(one, ast.Subscript) else one for one in targets)
            if last in map(last_word, held):
                return place_of(node)
    return None


def _is_made(value: ast.expr) -> bool:
    """No `None`, number or empty list to begin with, and nothing that was cut off from its
    graph.
    """
    named = bool(within(read_through(value), ast.Name))
    return named and not _is_freed(value)


def _is_freed(value: ast.expr) -> bool:
    """Whether a value is cut off from its graph on the way."""
    return any(last_word(part) in ENDS for part in all_parts(value))


def _goes_back(call: ast.Call) -> list[str]:
    """Names of the losses that a call sends backward."""
    owner = owner_of(call)
    inner = owner.args if isinstance(owner, ast.Call) else []
    given = [*call.args, owner, *inner] if called(call) == "backward" else []
    return [one.id for one in given if isinstance(one, ast.Name)]


def _is_kept(call: ast.Call) -> bool:
    """Whether a loss that went backward goes into a list that no loop around makes again or
    empties.
    """
    owner = owner_of(call)
    if called(call) != "append" or owner is None or len(call.args) != 1:
        return False
    loss = call.args[0]
    loops = loops_of(call)
    around = within(function_of(call), ast.Call)
    backward = {name for node in around for name in _goes_back(node)}
    if not loops or not isinstance(loss, ast.Name) or loss.id not in backward:
        return False
    outer = min(loops, key=lambda loop: loop.lineno)
    if len(loops) == 1 and isinstance(outer, ast.For) and not isinstance(outer.iter, ast.Call):
        # One pass over a loader: the list ends with the epoch.
        return False
    return not any(_is_let_go(node, owner, loss) for one in outer.body for node in all_parts(one))


def _is_let_go(node: ast.AST, kept: ast.expr, loss: ast.Name) -> bool:
    """Whether a list is made again or emptied here, or the loss is cut off from its graph."""
    match node:
        case ast.Delete(targets):
            return any(same(target, kept) for target in targets)
        case ast.Call() if called(node) in ("clear", "pop"):
            return same(owner_of(node), kept)
    return isinstance(node, ast.Assign) and any(
        same(target, kept) or (same(target, loss) and called(value) in ENDS)
        for target, value in assigned(node)
    )


def _is_evaluated(node: ast.AugAssign) -> bool:
    """Whether a function that evaluates with gradients on adds up losses, and gives the sum
    away as it is.
    """
    value = _unscaled(node.value)
    around = function_of(node)
    if isinstance(around, ast.Module) or not is_loss_call(value):
        return False
    away = [
        answer
        for answer in returned(around)
        if any(same(part, node.target) for part in all_parts(answer))
    ]
    stated = map(last_word, getattr(around, "decorator_list", ()))
    switched = {*map(called, calls_in(around)), *stated}
    evaluates = "eval" in switched and switched.isdisjoint(SWITCHES)
    return evaluates and bool(away) and not any(map(_is_freed, away))


def _unscaled(value: ast.expr) -> ast.expr:
    """What is added, without the number that it is multiplied with or divided by."""
    if is_sum(value, ast.Mult, ast.Div):
        return value.left
    return value


def _name(value: ast.expr) -> str:
    """The variable that is added as it is, or times a number."""
    value = _unscaled(value)
    return value.id if isinstance(value, ast.Name) else ""


def _is_undone(node: ast.AugAssign) -> bool:
    """The variable is made again or let go in the same loop, or holds a plain number by then."""
    inner = max(loops_of(node), key=lambda loop: loop.lineno, default=None)
    if inner is None:
        return True
    added = _unscaled(node.value)
    return any(
        same(target, node.target) or (same(target, added) and called(one.value) in ENDS)
        for one in within(inner, ast.Assign)
        for target in one.targets
    )
