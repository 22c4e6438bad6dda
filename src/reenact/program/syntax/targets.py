"""How a statement binds names: its targets, each with what it takes."""

import ast
from collections.abc import Iterator
from enum import Enum, auto
from typing import TypeAlias


class How(Enum):
    """How a name gets its value."""

    ASSIGN = auto()
    """`name = value`, also unpacked: `pick` says which element."""
    LOOP = auto()
    """`for name in value`."""
    WITH = auto()
    """`with value as name`."""
    PARAMETER = auto()
    IMPORT = auto()
    FUNCTION = auto()
    CLASS = auto()
    OTHER = auto()
    """Augmented, deleted, caught, captured: the value is not one expression."""


def bound_by(node: ast.stmt) -> list[tuple[ast.expr, How, ast.expr | None]]:
    """Targets of a statement, with what they take."""
    if isinstance(node, ast.Assign):
        return [(target, How.ASSIGN, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign):
        if node.value is None:
            return []
        return [(node.target, How.ASSIGN, node.value)]
    if isinstance(node, ast.AugAssign):
        # `config |= {...}` fills the same object; every other operator makes a new value.
        if isinstance(node.op, ast.BitOr):
            return []
        return [(node.target, How.OTHER, None)]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [(node.target, How.LOOP, node.iter)]
    if isinstance(node, ast.With | ast.AsyncWith):
        return [*_named_by(node)]
    if not isinstance(node, ast.Delete):
        return []
    return [(target, How.OTHER, None) for target in node.targets]


def _named_by(node: ast.With | ast.AsyncWith) -> Iterator[tuple[ast.expr, How, ast.expr | None]]:
    for item in node.items:
        if item.optional_vars is not None:
            yield item.optional_vars, How.WITH, item.context_expr


Taken: TypeAlias = tuple[How, ast.expr | None, tuple[int, ...]]
"""How a target takes its value, the expression it comes from, and the indices into that."""


def unpacked(
    target: ast.expr,
    how: How,
    value: ast.expr | None,
    pick: tuple[int, ...] = (),
) -> Iterator[tuple[ast.expr, *Taken]]:
    """Every single target in a target; unpacking of a written-out tuple goes to the element
    itself.
    """
    if isinstance(target, ast.Starred):
        yield from unpacked(target.value, How.OTHER, None)
    elif isinstance(target, ast.Tuple | ast.List):
        for number, part in enumerate(target.elts):
            yield from unpacked(
                part,
                *_element(how, value, pick, number, len(target.elts)),
            )
    else:
        yield target, how, value, pick


def _element(
    how: How,
    value: ast.expr | None,
    pick: tuple[int, ...],
    number: int,
    count: int,
) -> Taken:
    """`for i, x in enumerate(xs)` and `for a, b in zip(xs, ys)` go over the lists themselves."""
    loop = how is How.LOOP and not pick
    if loop and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id == "enumerate" and value.args:
            if number == 0:
                return (How.OTHER, None, ())
            return (How.LOOP, value.args[0], ())
        if value.func.id == "zip" and number < len(value.args):
            return How.LOOP, value.args[number], ()
    plain = how is not How.LOOP and not pick
    parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
    if plain and len(parts) == count:
        return how, parts[number], ()
    return how, value, (*pick, number)
