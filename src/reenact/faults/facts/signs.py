"""With which sign a value goes into what is lowered: terms of a sum, what is negated or subtracted later."""

import ast
from collections.abc import Iterable, Iterator
from typing import TypeGuard

from reenact.faults.facts.flow import elements, stores, variables_read, variables_stored
from reenact.faults.facts.lines import function_of
from reenact.faults.facts.parts import (
    all_parts,
    called,
    is_sum,
    within,
)
from reenact.program.syntax.index import FileIndex, statement_of

ROUNDS = 6


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


def is_minus(node: ast.AST | None) -> TypeGuard[ast.UnaryOp]:
    """Whether it is `-x`, or a negative number."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub)


def is_maximised(index: FileIndex) -> bool:
    """Whether an optimizer is asked to raise what it is given: `maximize=True`."""
    return any(
        word.arg == "maximize" and isinstance(word.value, ast.Constant) and word.value.value is True
        for call in index.calls
        for word in call.keywords
    )


def is_lessened(index: FileIndex, node: ast.expr) -> bool:
    """Whether it, or what it goes into, is negated or subtracted anywhere."""
    reached = goes_into(index, node)
    inside = set(_around(index, node))
    return any(part in inside or reached & variables_read(part) for part in _taken_away(index))


def goes_into(index: FileIndex, node: ast.expr) -> set[str]:
    """Variables that a value is stored in, by itself or as part of something, and functions that
    give it.
    """
    reached = set(_keepers(index, node))
    handed = index.once((goes_into,), lambda: [*stores(index.tree), *_handed(index)])
    for _ in range(ROUNDS):
        before = len(reached)
        for target, value in handed:
            if reached & variables_read(value):
                reached.update(variables_stored(target))
        if len(reached) == before:
            break
    return reached


def reaches(index: FileIndex, node: ast.expr, calls: Iterable[ast.Call]) -> bool:
    """Whether a value goes into an argument of one of these calls."""
    reached = goes_into(index, node)
    inside = set(_around(index, node))
    return any(
        part in inside or reached & variables_read(part) for call in calls for part in call.args
    )


def _handed(index: FileIndex) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a function returns, and the variable that is given it; of a tuple part by part."""
    for owner in within(index.tree, ast.FunctionDef):
        for answer in within(owner, ast.Return):
            if parts := elements(answer.value):
                for target, value in stores(index.tree):
                    if called(value) == owner.name:
                        yield from zip(elements(target), parts, strict=False)
            elif answer.value is not None:
                yield ast.Name(owner.name), answer.value


def _keepers(index: FileIndex, node: ast.expr) -> Iterator[str]:
    """What the statement of a value stores it in."""
    statement = statement_of(node)
    for target, _ in stores(statement):
        yield from variables_stored(target)
    if isinstance(statement, ast.Return) and not elements(statement.value):
        owner = function_of(index, statement)
        yield from (owner.name,) if isinstance(owner, ast.FunctionDef) else ()


def _around(index: FileIndex, node: ast.expr) -> Iterator[ast.AST]:
    yield node
    for above in index.ancestors(node):
        if isinstance(above, ast.stmt):
            return
        yield above


def _taken_away(index: FileIndex) -> list[ast.expr]:
    """Everything that is negated, subtracted or multiplied by a negative number."""

    def read() -> list[ast.expr]:
        taken: list[ast.expr] = []
        for node in all_parts(index.tree):
            if is_minus(node) and not isinstance(node.operand, ast.Constant):
                taken.append(node.operand)
            elif is_sum(node, ast.Sub) or (is_sum(node, ast.Mult) and is_minus(node.left)):
                taken.append(node.right)
            elif is_sum(node, ast.Mult, ast.Div) and is_minus(node.right):
                taken.append(node.left)
            elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub):
                taken.append(node.value)
        # A gain is a difference too, and only compared.
        return [
            part
            for part in taken
            if not any(isinstance(above, ast.Compare) for above in _around(index, part))
        ]

    return index.once((_taken_away,), read)
