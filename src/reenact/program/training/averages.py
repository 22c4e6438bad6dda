"""Exponential averages of weights: where one takes up new weights, and how much it keeps of the old ones."""

import ast
from collections.abc import Iterator, Sequence
from itertools import takewhile

from reenact.program.flow.constants import constant_of
from reenact.program.flow.holders import holders
from reenact.program.flow.uses import assigned, names_that_reach, number
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex, statement_of
from reenact.program.syntax.pieces import (
    all_parts,
    called,
    calls_in,
    file_of,
    is_constant,
    is_sum,
    last_word,
    owner_of,
    within,
)
from reenact.program.training.roles import is_loss_call, is_without_gradients, losses

AVERAGERS = ("get_ema_avg_fn", "get_ema_multi_avg_fn")


def _learned_from(index: FileIndex) -> set[str]:
    """What goes into a loss that is differentiated: a target network among them, which is slow on
    purpose, and no average that is only asked.
    """
    compared = [one for one in filter(is_loss_call, index.calls) if not is_without_gradients(one)]
    return names_that_reach(index, [*losses(index), *compared])


def decays(
    files: Sequence[FileIndex],
) -> Iterator[tuple[ast.Call | ast.BinOp, ast.Constant]]:
    """Where an average that is only asked takes up new weights, and the number that it keeps of
    the old ones.
    """
    learned_from = {name for index in files for name in _learned_from(index)}
    for index in files:
        yield from _decays(files, index, learned_from)


def _decays(
    files: Sequence[FileIndex], index: FileIndex, learned_from: set[str]
) -> Iterator[tuple[ast.Call | ast.BinOp, ast.Constant]]:
    """Where an average takes up new weights, and the number that it keeps of the old ones."""
    for node in (one for one in all_parts(index.tree) if isinstance(one, ast.Call | ast.BinOp)):
        kept = _kept(node)
        known = number(kept) if kept is not None else None
        copies = _copies(files, node) if known is not None else set()
        averages = bool(copies) and not copies & learned_from and not _sees_gradients(node)
        if known is not None and averages:
            yield node, known


def _kept(node: ast.Call | ast.BinOp) -> ast.expr | None:
    """The decay in `old.mul_(decay)` before `add_`, `decay * old + (1 - decay) * new`,
    `old.lerp_(new, 1 - decay)` and `get_ema_avg_fn(decay)`.
    """
    if isinstance(node, ast.Call):
        if called(node) == "mul_" and len(node.args) == 1:
            return node.args[0]
        if called(node) == "lerp_" and len(node.args) == 2:
            return _one_less(node.args[1])
        if called(node) in AVERAGERS and node.args:
            return node.args[0]
    elif is_sum(node, ast.Add):
        products = [side for side in (node.left, node.right) if is_sum(side, ast.Mult)]
        factors = [factor for product in products for factor in (product.left, product.right)]
        rests = [rest for factor in factors if (rest := _one_less(factor)) is not None]
        return next(
            (factor for factor in factors if any(same(factor, rest) for rest in rests)),
            None,
        )
    return None


def _one_less(node: ast.expr) -> ast.expr | None:
    """`decay` of `1 - decay`."""
    match node:
        case ast.BinOp(whole, ast.Sub(), rest) if is_constant(constant_of(whole), 1, 1.0):
            return rest
    return None


def _sees_gradients(node: ast.AST) -> bool:
    """Whether the loop around handles gradients, as an optimizer of one's own does."""
    loops = (one for one in file_of(node).ancestors(node) if isinstance(one, ast.For))
    loop = next(loops, None)
    return loop is not None and any(one.attr == "grad" for one in within(loop, ast.Attribute))


def _copies(files: Sequence[FileIndex], node: ast.Call | ast.BinOp) -> set[str]:
    """What holds the weights that an update moves; nothing where it moves no weights."""
    if called(node) in AVERAGERS:
        return {last_word(target) for target, _ in assigned(statement_of(node))} - {""}
    old = owner_of(node) if isinstance(node, ast.Call) else _moved(node)
    if old is not None:
        return set(holders(files, old))
    return set()


def _moved(node: ast.BinOp) -> ast.expr | None:
    """`old` of `decay * old + (1 - decay) * new`."""
    kept = _kept(node)
    for side in (node.left, node.right):
        if isinstance(side, ast.BinOp):
            if same(side.left, kept):
                return side.right
            if same(side.right, kept):
                return side.left
    return None


def begins_faster(node: ast.Call | ast.BinOp) -> bool:
    """Whether the decay grows with the steps, or what it lacks is divided out: both need the
    count.
    """
    index = file_of(node)
    kept = last_word(_kept(node))
    powers = [one for one in within(index.tree, ast.BinOp) if is_sum(one, ast.Pow)]
    if kept and any(last_word(one.left) == kept for one in powers):
        return True
    above = takewhile(lambda one: not isinstance(one, ast.ClassDef), index.ancestors(node))
    functions = [one for one in above if isinstance(one, ast.FunctionDef)]
    return any(
        calls_in(one, "min", "minimum") or any(power in powers for power in within(one, ast.BinOp))
        for one in functions
    )
