"""Small questions about functions, classes and the ends of trails."""

from __future__ import annotations

import ast

from reenact.program.hyperparameter import Written
from reenact.program.read.ends import End
from reenact.program.read.scope import Binding, Scope
from reenact.program.read.sources import Sources


def returned_values(function: Scope, sources: Sources) -> list[ast.expr]:
    """The expressions a function of the program may return."""
    if isinstance(function.node, ast.Lambda):
        return [function.node.body]
    return sources.index(function).returns.get(function, [])


def position_of(binding: Binding, function: Scope) -> int | None:
    """Index among the positional arguments of a call; methods do not count their first parameter."""
    node = function.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return None
    ordered = [*node.args.posonlyargs, *node.args.args]
    if binding.node not in ordered:
        return None
    position = ordered.index(binding.node) - _is_method(function)
    return position if position >= 0 else None


def _is_method(function: Scope) -> bool:
    if function.parent is None or not function.parent.is_class or isinstance(function.node, ast.Lambda):
        return False
    node = function.node
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return not any(isinstance(d, ast.Name) and d.id == "staticmethod" for d in node.decorator_list)


def kind_of_name(holder: Scope) -> Written:
    """How a value stands that is bound to a name there: as a field, or as a constant."""
    return Written.DATACLASS if is_record(holder) else Written.CONSTANT


def is_record(scope: Scope) -> bool:
    """A class whose attributes are fields: dataclass, NamedTuple, TypedDict, pydantic."""
    node = scope.node
    if not isinstance(node, ast.ClassDef):
        return False
    marks = [ast.unparse(part) for part in (*node.decorator_list, *node.bases)]
    words = ("dataclass", "NamedTuple", "BaseModel", "BaseSettings", "attrs.", "attr.s", "define")
    return any(word in mark for mark in marks for word in words)


def is_name(node: ast.expr, name: str) -> bool:
    """True for just this name."""
    return isinstance(node, ast.Name) and node.id == name


def tests_for_none(node: ast.AST | None, name: str) -> bool:
    """`if name is None:` or `if not name:`."""
    if not isinstance(node, ast.If):
        return False
    test = node.test
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_name(test.operand, name)
    return isinstance(test, ast.Compare) and is_name(test.left, name) and isinstance(test.ops[0], ast.Is)


def distinct(ends: list[End]) -> list[End]:
    """Each end once, in order."""
    seen: set[tuple[object, ...]] = set()
    found = []
    for end in ends:
        key = (end.data_file, end.entry.span) if end.entry is not None else (id(end.node),)
        if key not in seen:
            seen.add(key)
            found.append(end)
    return found
