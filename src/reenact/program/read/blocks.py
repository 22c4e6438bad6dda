"""Which statement certainly ran before which: blocks, and the last of several assignments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Protocol, TypeVar

from reenact.program.read.index import FileIndex

BLOCKS = ("body", "orelse", "finalbody", "handlers")


class HasNode(Protocol):
    """Anything that stands at a node."""

    @property
    def node(self) -> ast.AST | None: ...


Item = TypeVar("Item", bound=HasNode)


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
    before = [
        item
        for item in items
        if item.node is not None and _line(item.node) <= line and not _within(item.node, use)
    ]
    if not before:
        return None
    last = max(before, key=lambda item: _line(item.node))
    if last.node is None or not _encloses(index, last.node, use):
        return None
    after = [item for item in items if item not in before and item.node is not None]
    loops = {part for part in index.ancestors(use) if isinstance(part, ast.For | ast.While | ast.AsyncFor)}
    if any(loops & set(index.ancestors(item.node)) for item in after if item.node is not None):
        return None
    return last


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
