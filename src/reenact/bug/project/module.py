"""One parsed file of the project: the names that stand in it, and what they are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeAlias


@dataclass(frozen=True)
class Function:
    """A function, or a method when `owner` is set."""

    node: ast.FunctionDef | ast.AsyncFunctionDef
    module: str


@dataclass(frozen=True)
class Class:
    """A class as its module writes it."""

    node: ast.ClassDef
    module: str

    @property
    def name(self) -> str:
        return self.node.name


@dataclass(frozen=True)
class Alias:
    """A name that an import brings: `target` is its dotted name."""

    target: str


@dataclass(frozen=True)
class Value:
    """A variable; what it holds is not known."""


Thing: TypeAlias = Function | Class | Alias | Value


@dataclass
class Module:
    """The top level of one file."""

    name: str
    path: PurePosixPath
    is_package: bool
    names: dict[str, Thing] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    """Modules of which everything is imported."""
    is_open: bool = False
    """Whether it may have names that its text does not show."""


def read_module(name: str, path: PurePosixPath, text: str) -> Module | None:
    """The module in a text; none when it does not parse."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None
    module = Module(name, path, path.name == "__init__.py")
    for statement in _top_level(tree.body):
        _learn(module, statement)
    module.is_open |= "__getattr__" in module.names or "globals()" in text or "setattr(" in text
    return module


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements at the top, also those under `if`, `try`, `with` and loops."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for part in ("body", "orelse", "finalbody"):
            yield from _top_level(getattr(statement, part, []))
        for handler in getattr(statement, "handlers", []):
            yield from _top_level(handler.body)


def _learn(module: Module, statement: ast.stmt) -> None:
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
        module.names[statement.name] = Function(statement, module.name)
    elif isinstance(statement, ast.ClassDef):
        module.names[statement.name] = Class(statement, module.name)
    elif isinstance(statement, ast.Import):
        for one in statement.names:
            target = one.name if one.asname else one.name.partition(".")[0]
            module.names[one.asname or target] = Alias(target)
    elif isinstance(statement, ast.ImportFrom):
        _learn_from(module, statement)
    else:
        for name in bound_names(statement):
            module.names.setdefault(name, Value())


def _learn_from(module: Module, statement: ast.ImportFrom) -> None:
    source = absolute(module, statement)
    for one in statement.names:
        if one.name == "*":
            module.stars.append(source)
        else:
            module.names[one.asname or one.name] = Alias(f"{source}.{one.name}")


def absolute(module: Module, statement: ast.ImportFrom) -> str:
    """The dotted name of the module that a `from` names, relative ones resolved."""
    if not statement.level:
        return statement.module or ""
    parts = module.name.split(".")
    up = statement.level - (1 if module.is_package else 0)
    base = parts[: len(parts) - up] if up else parts
    return ".".join([*base, *([statement.module] if statement.module else [])])


def bound_names(statement: ast.stmt) -> Iterator[str]:
    """Names that an assignment, loop or `with` binds; `a.b = 1` and `a[0] = 1` bind none."""
    for target in targets_of(statement):
        for node in ast.walk(target):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def targets_of(statement: ast.stmt) -> list[ast.expr]:
    """What stands on the left of an assignment, loop or `with`."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    if isinstance(statement, ast.AnnAssign | ast.AugAssign | ast.For | ast.AsyncFor):
        return [statement.target]
    if isinstance(statement, ast.With | ast.AsyncWith):
        return [item.optional_vars for item in statement.items if item.optional_vars is not None]
    return []
