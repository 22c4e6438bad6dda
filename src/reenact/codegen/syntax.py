"""Python text as syntax trees, and what its statements bind. Nothing is imported or run."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from reenact.program.syntax.source import Unparsable, parse

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
Definition: TypeAlias = FunctionNode | ast.ClassDef


@dataclass(frozen=True, slots=True)
class ImportedName:
    """One name that an import statement binds."""

    name: str
    """`*` for all of a module."""
    target: str
    """Its dotted name: `import a.b` binds `a`, which is `a`."""
    module: str
    """The module that the statement names."""


def parsed(text: str) -> ast.Module | None:
    """The syntax tree of Python text; none when it is not Python, or nests deeper than we follow."""
    try:
        return parse(text)
    except Unparsable:
        return None


def imported_names(
    node: ast.AST,
    package: str | None = None,
) -> Iterator[ImportedName]:
    """What an import statement binds; nothing for other nodes. A relative import counts from
    `package`, and binds nothing that is known without one.
    """
    if isinstance(node, ast.Import):
        for one in node.names:
            target = one.name if one.asname else one.name.partition(".")[0]
            yield ImportedName(one.asname or target, target, one.name)
    elif isinstance(node, ast.ImportFrom) and (not node.level or package is not None):
        above = []
        if node.level and package:
            above = (package or "").split(".")
        parts = [
            *above[: len(above) - max(node.level - 1, 0)],
            *([node.module] if node.module else []),
        ]
        source = ".".join(parts)
        for one in node.names:
            yield ImportedName(
                one.asname or one.name,
                f"{source}.{one.name}",
                source,
            )


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at the top, also those under `if`, `try`, `with` and loops."""
    for statement in body:
        yield statement
        if isinstance(statement, Definition):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from top_level(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from top_level(handler.body)


def bound_names(statement: ast.stmt) -> Iterator[str]:
    """Names that an assignment, loop or `with` binds; `a.b = 1` and `a[0] = 1` bind none."""
    for target in targets_of(statement):
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    """What is on the left of an assignment, loop or `with`."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        return [statement.target]
    if isinstance(statement, ast.With | ast.AsyncWith):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return []


def marks_of(node: Definition) -> list[str]:
    """The decorators by their last name, without arguments."""
    return [ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in node.decorator_list]


def dotted_name(node: ast.AST) -> str:
    """The text of a chain of attributes: `self.net.fit`, `super().fit`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return ".".join([node.id, *reversed(parts)])
    is_super = (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )
    if is_super:
        return ".".join(["super()", *reversed(parts)])
    return ""
