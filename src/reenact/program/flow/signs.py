"""With which sign a value goes into what is lowered: terms of a sum, what is negated or subtracted later."""

import ast
from collections.abc import Iterator

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.uses import reaches
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.pieces import (
    all_parts,
    around,
    file_of,
    given_as,
    is_constant,
    is_minus,
    is_sum,
)


def terms(
    node: ast.expr,
    sign: int = 1,
) -> Iterator[tuple[int, ast.expr]]:
    """The terms of a sum, each with its sign."""
    if is_sum(node, ast.Add, ast.Sub):
        yield from terms(node.left, sign)
        yield from terms(
            node.right,
            sign if isinstance(node.op, ast.Add) else -sign,
        )
    elif is_minus(node):
        yield from terms(node.operand, -sign)
    else:
        yield sign, node


def is_maximised(index: FileIndex) -> bool:
    """Whether an optimizer is asked to raise what it is given: `maximize=True`."""
    asked = map(constant_of, given_as(index.calls, "maximize"))
    return any(is_constant(value, True) for value in asked)


def is_lessened(node: ast.expr) -> bool:
    """Whether it, or what it goes into, is negated or subtracted anywhere."""
    index = file_of(node)
    return reaches(node, index.once((is_lessened,), lambda: list(_taken_away(index))))


def _taken_away(index: FileIndex) -> Iterator[ast.expr]:
    """Everything that is negated, subtracted or multiplied by a negative number."""
    for node in all_parts(index.tree):
        part: ast.expr | None = None
        if is_minus(node) and not isinstance(node.operand, ast.Constant):
            part = node.operand
        elif is_sum(node, ast.Sub) or (is_sum(node, ast.Mult) and _is_negative(node.left)):
            part = node.right
        elif is_sum(node, ast.Mult, ast.Div) and _is_negative(node.right):
            part = node.left
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub):
            part = node.value
        # A gain is a difference too, and only compared.
        if part is not None and not any(isinstance(one, ast.Compare) for one in around(part)):
            yield part


def _is_negative(factor: ast.expr) -> bool:
    """`-1`, `-x`, and `SIGN` where it stands for a negative number."""
    return is_minus(read_through(factor))
