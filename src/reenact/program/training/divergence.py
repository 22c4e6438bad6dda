"""Terms of a loss that are a KL divergence from a normal distribution, as programs write them by hand."""

import ast
from typing import NamedTuple

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.signs import terms
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    called,
    calls_in,
    file_of,
    given_to,
    is_call,
    is_constant,
    is_minus,
    is_sum,
    within,
)

REDUCTIONS = ("sum", "mean")


class Divergence(NamedTuple):
    """`-0.5 * sum(1 + log_var - mean**2 - exp(log_var))`, with all that is done to it in one expression."""

    node: ast.expr
    positive: bool
    """Has the sign of a divergence, which is never below zero."""
    summed: bool
    """Over everything, and not divided by a number of rows."""
    by_row: bool
    """Over the values of a row alone, or over everything and then divided by the number of rows."""
    weighted: bool
    """Multiplied by something that is not a number."""


def divergences(index: FileIndex) -> tuple[Divergence, ...]:
    """Every one in a file."""

    def read() -> tuple[Divergence, ...]:
        sums = [one for one in within(index.tree, ast.BinOp) if is_sum(one, ast.Add, ast.Sub)]
        whole = [one for one in sums if not is_sum(index.parents.get(one), ast.Add, ast.Sub)]
        return tuple(_outwards(one, sign) for one in whole if (sign := _sign(one)) is not None)

    return index.once(divergences, read)


def _sign(node: ast.expr) -> int | None:
    """1 for `exp(log_var) + mean**2 - 1 - log_var`, -1 for its negative, none for another sum."""
    signed = list(terms(node))
    if len(signed) != 4:
        return None
    grown = [sign for sign, term in signed if _has_exp(term)]
    squares = [sign for sign, term in signed if _has_square(term) and not _has_exp(term)]
    ones = [sign for sign, term in signed if _number(read_through(term)) == 1]
    if len(grown) == 1 and squares == grown and ones == [-grown[0]]:
        return grown[0]
    return None


def _has_exp(node: ast.expr) -> bool:
    return bool(calls_in(node, "exp"))


def _has_square(node: ast.expr) -> bool:
    """Whether something in it is squared: `x**2`, `x.pow(2)`, `torch.square(x)`."""
    powers = [part.right for part in within(node, ast.BinOp) if is_sum(part, ast.Pow)]
    for call in calls_in(node, "pow"):
        if call.args:
            powers.append(call.args[-1])
    return bool(calls_in(node, "square")) or any(
        is_constant(constant_of(power), 2, 2.0) for power in powers
    )


def _outwards(node: ast.expr, sign: int) -> Divergence:
    """Follow what is done to it up to the statement."""
    parents = file_of(node).parents
    summed = False
    by_row = False
    weighted = False
    while True:
        above = parents.get(node)
        if isinstance(above, ast.Attribute) and above.attr in REDUCTIONS:
            above = parents.get(above)
        if is_call(above, *REDUCTIONS):
            axes = len(given_to(above)) - (node in above.args)
            summed = called(above) == "sum" and not axes
            by_row = by_row or (called(above) == "sum" and axes > 0)
        elif is_minus(above):
            sign = -sign
        elif is_sum(above, ast.Mult, ast.Div):
            other = above.right if above.left is node else above.left
            known = _number(other) is not None or _halves(above, other)
            by_row = by_row or (summed and isinstance(above.op, ast.Div) and not known)
            summed = summed and isinstance(above.op, ast.Mult)
            weighted = weighted or not known
            sign *= _minus(other)
        else:
            return Divergence(node, sign > 0, summed, by_row, weighted)
        node = above


def _halves(product: ast.BinOp, factor: ast.expr) -> bool:
    """Whether it is the half of the formula, under whatever name; another number that has a name
    is a weight.
    """
    known = _number(read_through(factor))
    half = 0.5 if isinstance(product.op, ast.Mult) else 2.0
    return known is not None and abs(known) == half


def _minus(node: ast.expr) -> int:
    """-1 for a factor such as `-0.5 / rows`; what is not a number is taken for positive."""
    node = read_through(node)
    if is_minus(node):
        return -_minus(node.operand)
    if not is_sum(node, ast.Mult, ast.Div):
        return 1
    return _minus(node.left) * _minus(node.right)


def _number(node: ast.expr) -> float | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    if isinstance(value, int | float):
        return float(value)
    return None
