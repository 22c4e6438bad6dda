"""A dotted name -> what it is in the project, through imports, re-exports and base classes.

All of it is read from the source; nothing of the project is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias

from reenact.bug.project_files import ProjectFiles
from reenact.codegen.syntax import (
    Definition,
    FunctionNode,
    bound_names,
    imported_names,
    marks_of,
    top_level,
)

PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic"})
KEEPS_ARGUMENTS = {
    "staticmethod",
    "classmethod",
    "abstractmethod",
    "override",
    "cache",
    "lru_cache",
}
KEEPS_ARGUMENTS |= {"no_grad", "inference_mode"}
"""Decorators that leave the parameters as they are; others may change them."""
CALLED = ("__call__", "forward", "call")
"""What runs when an object is called: its own `__call__`, else what the layers of torch and
Keras run.
"""
DEEPEST = 12
"""Re-exports that are followed one after another."""
SEVERAL = 3
"""Statements from which on an equal body is a copy and no coincidence."""


@dataclass(frozen=True)
class Function:
    """A function or a method."""

    node: FunctionNode
    module: str

    def signature(self, *, bound: bool) -> ast.arguments | None:
        """Its parameters, without `self` for one that is bound; none when a decorator may
        change them.
        """
        marks = marks_of(self.node)
        if not KEEPS_ARGUMENTS.issuperset(marks):
            return None
        taken = copy(self.node.args)
        if bound and "staticmethod" not in marks:
            taken.args = taken.args if taken.posonlyargs else taken.args[1:]
            taken.posonlyargs = taken.posonlyargs[1:]
            spare = len(taken.defaults) - len(taken.posonlyargs) - len(taken.args)
            taken.defaults = taken.defaults[max(spare, 0) :]
        return taken


@dataclass(frozen=True)
class Class:
    """A class as its module writes it, with what its bases inside the project add."""

    node: ast.ClassDef
    module: str
    project: Codebase = field(repr=False, compare=False)

    @property
    def name(self) -> str:
        return self.node.name

    @cached_property
    def bases(self) -> tuple[Class | bool, ...]:
        """Each base: the class of the project; else whether it is one that adds nothing."""
        module = self.project.module(self.module) or Value()

        def of(text: str) -> Class | bool:
            plain = text.rpartition(".")[2] in PLAIN_BASES
            base = None
            if not plain:
                base = self.project.follow(module, text.split("."))
            return base if isinstance(base, Class) else plain

        return tuple(of(ast.unparse(base).partition("[")[0]) for base in self.node.bases)

    @cached_property
    def chain(self) -> tuple[Class, ...]:
        """The class and its bases inside the project, nearest first."""
        chain = [self]
        for one in chain:
            bases = dict.fromkeys(base for base in one.bases if isinstance(base, Class))
            chain += [base for base in bases if base not in chain]
        return tuple(chain)

    @cached_property
    def closed(self) -> bool:
        """Whether no base outside the project can add anything."""
        known = all(base for one in self.chain for base in one.bases)
        return known and not self.node.keywords and set(marks_of(self.node)) <= {"dataclass"}

    @cached_property
    def methods(self) -> dict[str, Function]:
        """Methods of the class and its bases in the project, the nearest of each name."""
        return methods_of(self.chain)

    @cached_property
    def attributes(self) -> set[str]:
        """Every attribute that the text of the classes shows."""
        lines = [line for one in self.chain for line in one.node.body]
        names = {line.name for line in lines if isinstance(line, Definition)}
        names |= {name for line in lines for name in bound_names(line)}
        nodes = (
            node
            for one in self.chain
            for node in ast.walk(one.node)
            if isinstance(node, ast.Attribute)
        )
        stored = (node for node in nodes if isinstance(node.ctx, ast.Store))
        return names | {node.attr for node in stored if ast.unparse(node.value) in ("self", "cls")}

    @property
    def called(self) -> Function | None:
        """What runs when an object is called, if the project says so."""
        return next(
            (self.methods[name] for name in CALLED if name in self.methods),
            None,
        )

    @property
    def is_dataclass(self) -> bool:
        return any("dataclass" in ast.unparse(mark) for mark in self.node.decorator_list)

    def has(self, name: str) -> bool:
        """Whether an object of the class may have this attribute."""
        if not self.closed or (name.startswith("__") and name.endswith("__")):
            return True
        return "__getattr__" in self.methods or name in self.attributes

    def construction(self) -> ast.arguments | None:
        """The parameters that make an object; none when they cannot be known."""
        if "__init__" in self.methods:
            return self.methods["__init__"].signature(bound=True)
        if not self.closed or "__new__" in self.methods:
            return None
        fields: dict[str, ast.AnnAssign] = {}
        for line in (
            line for one in reversed(self.chain) for line in one.node.body if self.is_dataclass
        ):
            if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name):
                if "ClassVar" in ast.unparse(line.annotation) or "field(" in ast.unparse(line):
                    return None
                fields[line.target.id] = line
        taken = [ast.arg(name, line.annotation) for name, line in fields.items()]
        defaults = [line.value for line in fields.values() if line.value is not None]
        return ast.arguments([], taken, None, [], [], None, defaults)


@dataclass(frozen=True)
class Value:
    """A variable; what it holds is not known."""


@dataclass
class Module:
    """The top level of one file."""

    name: str
    names: dict[str, Function | Class | Value | str] = field(default_factory=dict)
    """What each name is; the dotted name of one that an import brings."""
    stars: list[str] = field(default_factory=list)
    """Modules of which everything is imported."""
    is_open: bool = False
    """Whether it may have names that its text does not show."""


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
    _parsed: dict[str, Module | None] = field(default_factory=dict, repr=False)
    _copies: dict[str, bool] = field(default_factory=dict, repr=False)

    def owns(self, dotted: str) -> bool:
        """Whether an import of that name would come from the project."""
        return dotted.partition(".")[0] in self.files.packages

    def module(self, name: str) -> Module | None:
        """The module of that dotted name; none when there is none or it does not parse."""
        if name not in self._parsed:
            path = self.files.modules.get(name)
            tree = None
            if path is not None:
                tree = self.files.tree(path)
            self._parsed[name] = self._read(name, tree) if tree is not None else None
        return self._parsed[name]

    def find(self, dotted: str, depth: int = 0) -> Found:
        """What the dotted name is."""
        if not self.owns(dotted):
            return Outside(dotted)
        parts = dotted.split(".")
        for size in range(len(parts), 0, -1):
            name = ".".join(parts[:size])
            if name in self.files.modules:
                return self.follow(
                    self.module(name) or Value(),
                    parts[size:],
                    depth,
                )
        if any(name.startswith(f"{dotted}.") for name in self.files.modules):
            return Value()
        near = sorted(name for name in self.files.modules if name.startswith(parts[0]))
        return Absent(
            ".".join(parts[:-1]),
            parts[-1],
            tuple(near[:40]),
        )

    def follow(
        self,
        found: Found,
        parts: Sequence[str],
        depth: int = 0,
    ) -> Found:
        """Attributes as far as they are members of modules; those of classes are not looked at."""
        for part in parts:
            if isinstance(found, Absent | Outside):
                return found
            if not isinstance(found, Module):
                return Value()
            found = self.member(found, part, depth)
        return found

    def member(self, module: Module, name: str, depth: int = 0) -> Found:
        """What a module holds under a name."""
        found = module.names.get(name)
        below = f"{module.name}.{name}"
        if isinstance(found, str):
            if depth < DEEPEST and found != below:
                return self.find(found, depth + 1)
            return Value()
        if found is not None:
            return found
        if below in self.files.modules:
            return self.module(below) or Value()
        if name.startswith("__") and name.endswith("__"):
            return Value()
        for source in module.stars:
            if not self.owns(source) or depth >= DEEPEST:
                return Value()
            starred = self.find(
                f"{source}.{name}",
                depth + 1,
            )
            if not isinstance(starred, Absent):
                return starred
        if module.is_open:
            return Value()
        return Absent(
            module.name,
            name,
            tuple(sorted(one for one in module.names if one[0] != "_")),
        )

    def holds_copy(self, node: Definition) -> bool:
        """Whether the project has a definition with the same body, docstring aside."""
        if len(node.body) < SEVERAL:
            return False
        body = _body(node)
        if body not in self._copies:
            # Anyone who copies a function keeps the names that are rare in it: only files with them
            # are parsed.
            names = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
            likely = (
                path
                for path, text in self.files.texts.items()
                if all(name in text for name in names)
            )
            nodes = (one for path in likely for one in self.files.nodes(path))
            self._copies[body] = any(
                body == _body(one) for one in nodes if isinstance(one, Definition)
            )
        return self._copies[body]

    def _read(self, name: str, tree: ast.Module) -> Module:
        path = self.files.modules[name]
        module = Module(name)
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        for statement in top_level(tree.body):
            if isinstance(statement, FunctionNode):
                module.names[statement.name] = Function(statement, name)
            elif isinstance(statement, ast.ClassDef):
                module.names[statement.name] = Class(statement, name, self)
            names = list(imported_names(statement, package))
            module.stars += [one.module for one in names if one.name == "*"]
            module.names |= {one.name: one.target for one in names if one.name != "*"}
            for bound in bound_names(statement):
                module.names.setdefault(bound, Value())
        text = self.files.texts[path]
        module.is_open = "__getattr__" in module.names or "globals()" in text or "setattr(" in text
        return module


def methods_of(chain: Sequence[Class]) -> dict[str, Function]:
    """Methods of classes, the nearest of each name."""
    nearest: dict[str, Function] = {}
    for one in chain:
        for node in one.node.body:
            if isinstance(node, FunctionNode):
                nearest.setdefault(node.name, Function(node, one.module))
    return nearest


def _body(node: Definition) -> str:
    first = node.body[0]
    documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return "\n".join(ast.dump(line) for line in node.body[1 if documented else 0 :])
