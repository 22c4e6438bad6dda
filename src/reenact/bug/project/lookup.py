"""A dotted name -> what it is in the project, through imports, re-exports and star imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypeAlias

from reenact.bug.project.files import ProjectFiles
from reenact.codegen.project import parsed


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
    tree = parsed(text)
    if tree is None:
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


DEEPEST = 12
"""Re-exports that are followed one after another."""


@dataclass(frozen=True)
class Outside:
    """A name of another library."""

    name: str


@dataclass(frozen=True)
class Absent:
    """A name that is certainly not there."""

    module: str
    name: str
    known: tuple[str, ...] = ()
    """What is there instead."""


Found: TypeAlias = Module | Function | Class | Value | Outside | Absent


@dataclass
class Codebase:
    """The project's modules, parsed when they are asked for."""

    files: ProjectFiles
    copies: dict[str, bool] = field(default_factory=dict)
    """Bodies of definitions -> whether the project holds them too, as far as anybody asked."""
    _parsed: dict[str, Module | None] = field(default_factory=dict)

    def owns(self, dotted: str) -> bool:
        """Whether an import of that name would come from the project."""
        return dotted.partition(".")[0] in self.files.packages

    def module(self, name: str) -> Module | None:
        """The module of that dotted name; none when there is none or it does not parse."""
        if name not in self._parsed:
            path = self.files.modules.get(name)
            self._parsed[name] = read_module(name, path, self.files.text(path)) if path is not None else None
        return self._parsed[name]

    def find(self, dotted: str, depth: int = 0) -> Found:
        """What the dotted name is."""
        if not self.owns(dotted):
            return Outside(dotted)
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            name = ".".join(parts[:size])
            if name in self.files.modules:
                found: Found = self.module(name) or Value()
                return self._inside(found, parts[size:], depth)
        if any(name.startswith(f"{dotted}.") for name in self.files.modules):
            return Value()
        return self._missing_module(parts)

    def member(self, module: Module, name: str, depth: int = 0) -> Found:
        """What a module holds under a name."""
        found = module.names.get(name)
        if isinstance(found, Alias):
            itself = f"{module.name}.{name}"
            if depth >= DEEPEST or found.target == itself:
                return Value()
            return self.find(found.target, depth + 1)
        if found is not None:
            return found
        below = f"{module.name}.{name}"
        if below in self.files.modules:
            return self.module(below) or Value()
        if name.startswith("__") and name.endswith("__"):
            return Value()
        return self._starred(module, name, depth)

    def _inside(self, found: Found, parts: list[str], depth: int) -> Found:
        """Follow attributes as far as they are module members; the rest is for whoever knows classes."""
        for part in parts:
            if isinstance(found, Absent | Outside):
                return found
            if not isinstance(found, Module):
                return Value()
            found = self.member(found, part, depth)
        return found

    def _starred(self, module: Module, name: str, depth: int) -> Found:
        for source in module.stars:
            if not self.owns(source) or depth >= DEEPEST:
                return Value()
            found = self.find(f"{source}.{name}", depth + 1)
            if not isinstance(found, Absent):
                return found
        if module.is_open:
            return Value()
        return Absent(
            module.name, name, tuple(sorted(one for one in module.names if not one.startswith("_")))
        )

    def _missing_module(self, parts: list[str]) -> Absent:
        above = ".".join(parts[:-1])
        near = tuple(sorted(name for name in self.files.modules if name.startswith(f"{parts[0]}")))
        return Absent(above, parts[-1], near[:40])
