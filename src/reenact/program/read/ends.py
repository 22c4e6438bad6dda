"""Where the trail of a value ends: the expression, or the entry of a data file, that would have to be
edited."""

from __future__ import annotations

import ast
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from reenact.program.hyperparameter import Written
from reenact.program.jsontext import Entry
from reenact.program.lines import Span
from reenact.program.read.scope import Scope
from reenact.types import JsonValue

if TYPE_CHECKING:
    from reenact.program.read.options import Given, Option

NOT_LITERAL = object()

Frame: TypeAlias = tuple[Scope, ast.Call, Scope]
"""A function of the program, a call of it, and the scope of that call."""


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """The last step of a trail."""

    node: ast.AST
    """The expression; a class or function definition; the expression that reads the file, for a data
    entry."""
    scope: Scope
    written: Written
    entry: Entry | None = None
    """Set when the trail leads into a data file."""
    data_file: str = ""
    option: Option | None = None
    """Set when the value is the default of a command-line option."""
    given: Given | None = None
    """Set when the command line gives that option: what it says is in force."""
    frames: tuple[Frame, ...] = ()
    """Calls that the trail went through."""

    @property
    def file(self) -> str:
        return self.data_file or self.scope.file

    def at(self, written: Written) -> End:
        return replace(self, written=written)

    def with_option(self, option: Option, given: Given | None) -> End:
        return replace(self, option=option, given=given, written=Written.ARGPARSE)

    def literal(self) -> JsonValue | object:
        """The value written there, or NOT_LITERAL."""
        if self.entry is not None:
            return self.entry.plain()
        return literal(self.node)


def literal(node: ast.AST) -> JsonValue | object:
    """The JSON value of a literal expression, or NOT_LITERAL. Bytes, sets, complex numbers are none."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, bool | int | float | str | None) else NOT_LITERAL
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = literal(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
        return NOT_LITERAL
    if isinstance(node, ast.Tuple | ast.List) and len(node.elts) <= 64:
        values = [literal(part) for part in node.elts]
        return NOT_LITERAL if any(value is NOT_LITERAL for value in values) else values
    return NOT_LITERAL


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, slots=True)
class Spot:
    """A stretch of one file of the program."""

    file: str
    span: Span
