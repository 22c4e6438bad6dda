"""What a variable stands for: what it is given, what a list is filled with, which part a function returns."""

import ast
from collections.abc import Iterator

from reenact.faults.facts.flow import elements, stores
from reenact.faults.facts.lines import function_of
from reenact.faults.facts.parts import called, is_call, owner_of, within
from reenact.program.syntax.excerpt import same
from reenact.program.syntax.index import FileIndex

ROUNDS = 6
"""Assignments that are followed in a row."""


def sources_of(
    index: FileIndex,
    node: ast.expr,
    rounds: int = ROUNDS,
) -> Iterator[ast.expr]:
    """What a variable, a field or a part of either was given: in its function, else in the file.
    Rows of a list are taken for the list.
    """
    if isinstance(node, ast.Subscript):
        place = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(place, int):
            yield from part_of(index, node.value, place, rounds)
        else:
            yield node.value
        return
    if not isinstance(node, ast.Name | ast.Attribute) or not rounds:
        return
    for owner in (function_of(index, node), index.tree):
        given = list(_given(index, owner, node, rounds))
        yield from given
        if given:
            return


def _given(
    index: FileIndex,
    owner: ast.AST,
    node: ast.expr,
    rounds: int,
) -> Iterator[ast.expr]:
    for target, value in stores(owner):
        if same(target, node):
            yield value
        for place, part in enumerate(elements(target)):
            if same(part, node):
                yield from part_of(index, value, place, rounds - 1)
    for call in within(owner, ast.Call):
        if called(call) == "append" and call.args and same(owner_of(call), node):
            yield call.args[0]


def part_of(
    index: FileIndex,
    node: ast.expr,
    place: int,
    rounds: int = ROUNDS,
) -> Iterator[ast.expr]:
    """The part at this place of a tuple, of columns side by side or of what a function returns."""
    if not rounds:
        return
    if parts := elements(node) or (node.args if is_call(node, "zip") else []):
        yield from parts[place : place + 1]
    elif isinstance(node, ast.ListComp | ast.GeneratorExp):
        yield from part_of(index, node.elt, place, rounds - 1)
    elif isinstance(node, ast.Call):
        for owner in within(index.tree, ast.FunctionDef):
            for answer in within(owner, ast.Return) if owner.name == called(node) else ():
                yield from elements(answer.value)[place : place + 1]
    else:
        for value in sources_of(index, node, rounds - 1):
            yield from part_of(index, value, place, rounds - 1)
