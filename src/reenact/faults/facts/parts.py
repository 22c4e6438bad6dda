"""The words in which rules speak of a piece of text: what is called, read, stored and assigned in it."""

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from reenact.program.syntax.excerpt import key_of
from reenact.program.syntax.index import FileIndex, N
from reenact.program.syntax.scope import Scope
from reenact.types import Place

Found = Iterator[tuple[Place, str]]
"""Where something is wrong in the text, and what says so."""
NAMES = (ast.Name, ast.Attribute)
LIBRARIES = ("np", "numpy", "torch", "jnp", "tf", "ops")


def index_holding(node: ast.AST) -> FileIndex | None:
    """The file that a node stands in; none for one that was parsed by itself."""
    scope: Scope | None = getattr(node, "scope", None)
    return scope.index if scope is not None else None


def all_parts(node: ast.AST) -> Iterable[ast.AST]:
    """Every part, the thing itself as well."""
    index = index_holding(node)
    return index.parts(node) if index is not None else ast.walk(node)


def within(node: ast.AST, kind: type[N]) -> Iterator[N]:
    """Every part of this kind."""
    index = index_holding(node)
    if index is not None:
        return iter(index.parts_of(node, kind))
    return (one for one in ast.walk(node) if isinstance(one, kind))


def called(node: ast.AST | None) -> str:
    """The last word of what is called: `softmax` of `F.softmax(x)` and of `scores.softmax(-1)`."""
    return last_word(node.func) if isinstance(node, ast.Call) else ""


def is_call(
    node: ast.AST | None,
    *names: str,
) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and (not names or called(node) in names)


def is_sum(
    node: ast.AST | None,
    *operators: type[ast.operator],
) -> TypeGuard[ast.BinOp]:
    """Whether two things are added, divided or so on."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, operators)


def last_word(node: ast.AST | None) -> str:
    """`weight` of `model.head.weight`; empty for what is neither a variable nor an attribute."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def owner_of(call: ast.AST | None) -> ast.expr | None:
    """What a method is called on: `scores` of `scores.softmax(-1)`, `F` of `F.softmax(x)`."""
    match call:
        case ast.Call(ast.Attribute(owner)):
            return owner
    return None


def subject_of(
    call: ast.Call,
    libraries: Sequence[str] = LIBRARIES,
) -> ast.expr | None:
    """What a function is applied to: `rows` of `rows.mean(0)` and of `np.mean(rows, 0)`."""
    owner = owner_of(call)
    plain = owner is None or (isinstance(owner, ast.Name) and owner.id in libraries)
    if not plain:
        return owner
    return call.args[0] if call.args else None


def options(call: ast.Call) -> dict[str, str]:
    """Keyword arguments, each with its literal."""
    return {word.arg or "": key_of(word.value) for word in call.keywords}


def names(
    node: ast.AST,
    context: type[ast.expr_context] = ast.expr_context,
) -> set[str]:
    """Variables that occur, or are read or stored."""
    return {one.id for one in within(node, ast.Name) if isinstance(one.ctx, context)}


def words(node: ast.AST) -> Iterator[str]:
    """Every variable, attribute and argument that an expression reads."""
    for one in all_parts(node):
        if isinstance(one, ast.Name | ast.Attribute):
            yield last_word(one)
        elif isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value
