"""Small questions about functions, classes and ends of trails; which statement certainly ran before which."""

import ast
from collections.abc import Sequence
from typing import TypeVar

from reenact.program.read.ends import End
from reenact.program.read.index import FileIndex, Store
from reenact.program.read.scope import Binding, Scope


def returned_values(function: Scope) -> list[ast.expr]:
    """The expressions a function of the program may return."""
    if isinstance(function.node, ast.Lambda):
        return [function.node.body]
    return function.index.returns.get(function, [])


def position_of(binding: Binding) -> int | None:
    """Index among the positional arguments of a call; methods do not count their first parameter."""
    function, node = binding.holder, binding.holder.node
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return None
    ordered = [*node.args.posonlyargs, *node.args.args]
    if binding.node not in ordered:
        return None
    marks = None if isinstance(node, ast.Lambda) else node.decorator_list
    inside = function.parent is not None and function.parent.is_class and marks is not None
    method = inside and not any(is_name(mark, "staticmethod") for mark in marks or ())
    position = ordered.index(binding.node) - method
    return position if position >= 0 else None


def is_record(scope: Scope) -> bool:
    """A class whose attributes are fields: dataclass, NamedTuple, TypedDict, pydantic."""
    node = scope.node
    if not isinstance(node, ast.ClassDef):
        return False
    marks = [ast.unparse(part) for part in (*node.decorator_list, *node.bases)]
    words = ("dataclass", "NamedTuple", "BaseModel", "BaseSettings", "attrs.", "attr.s", "define")
    return any(word in mark for mark in marks for word in words)


def assigned(statement: ast.stmt, value: ast.expr) -> ast.expr | None:
    """What a statement assigns this very value to, when it assigns it once and does nothing else."""
    if isinstance(statement, ast.Assign) and statement.value is value and len(statement.targets) == 1:
        return statement.targets[0]
    return None


def is_name(node: ast.expr | None, name: str) -> bool:
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


BLOCKS = ("body", "orelse", "finalbody", "handlers")


Item = TypeVar("Item", Binding, Store)


def block_of(index: FileIndex, node: ast.AST) -> tuple[ast.AST | None, str]:
    """The statement (or module) whose block holds a node's statement, and which block."""
    statement = index.statement(node) if node in index.parents else node
    parent = index.parents.get(statement)
    for name in BLOCKS:
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return parent, name
    return parent, ""


def last_before(index: FileIndex, items: Sequence[Item], use: ast.AST) -> Item | None:
    """The last of several assignments before a use, when it certainly ran and none comes back in a loop."""
    line = _line(use)
    before = [item for item in items if _line(item.node) <= line and not _within(item.node, use)]
    last = max(before, key=lambda item: _line(item.node), default=None)
    if last is None or not _encloses(index, last.node, use):
        return None
    after = [item for item in items if item not in before]
    loops = {part for part in index.ancestors(use) if isinstance(part, ast.For | ast.While | ast.AsyncFor)}
    return None if any(loops & set(index.ancestors(item.node)) for item in after) else last


def _encloses(index: FileIndex, node: ast.AST, use: ast.AST) -> bool:
    """True when the block that holds a statement also holds the use, further down."""
    parent, name = block_of(index, node)
    at: ast.AST = use
    while at in index.parents:
        if index.parents[at] is parent:
            block = getattr(parent, name, None)
            return isinstance(block, list) and at in block
        at = index.parents[at]
    return False


def _line(node: ast.AST | None) -> int:
    return getattr(node, "lineno", 0)


def _within(statement: ast.AST, use: ast.AST) -> bool:
    """True when a use stands in the very statement that assigns: `x = x + 1` uses the x before."""
    start, end = _line(statement), getattr(statement, "end_lineno", 0) or 0
    return start <= _line(use) <= end and any(part is use for part in ast.walk(statement))
