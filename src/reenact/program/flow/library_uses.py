"""Whether a program uses a name of its framework: what it calls, passes by keyword or gives as a word."""

import ast
from collections.abc import Sequence

from reenact.program.flow.constants import constant_of
from reenact.program.syntax.index import FileIndex
from reenact.program.syntax.lines import calls, nodes
from reenact.program.syntax.pieces import given_as, is_constant, last_word


def uses(files: Sequence[FileIndex], *names: str) -> bool:
    """Whether one of these is called, handed on (`nn.Softmax`) or given as a word (`"softmax"`)."""
    return any(
        last_word(part) in names or is_constant(part, *names) for part in nodes(files, ast.expr)
    )


def has_keyword(files: Sequence[FileIndex], *names: str) -> bool:
    """Whether any call is given one of these arguments."""
    return bool(given_as(calls(files), *names))


def is_set(files: Sequence[FileIndex], name: str) -> bool:
    """Whether any call is given this argument as true."""
    values = map(constant_of, given_as(calls(files), name))
    return any(is_constant(value, True) for value in values)


def has_own_call(files: Sequence[FileIndex]) -> bool:
    """Whether a model of Keras has a `call` of its own."""
    return any(
        isinstance(part, ast.FunctionDef) and part.name == "call"
        for owner in nodes(files, ast.ClassDef)
        for part in owner.body
    )
