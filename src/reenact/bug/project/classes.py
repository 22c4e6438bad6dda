"""A class with its bases: which attributes it has, how it is constructed and how its objects are called."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from reenact.bug.project.lookup import Outside, Project
from reenact.bug.project.module import Class, Function, Module, bound_names

PLAIN_BASES = frozenset({"object", "ABC", "Protocol", "Generic"})
CALLED = ("__call__", "forward", "call")
"""What runs when an object is called: its own `__call__`, else what the layers of torch and Keras run."""


@dataclass(frozen=True)
class Shape:
    """What is known of a class."""

    own: Class
    chain: tuple[Class, ...]
    """The class and its bases inside the project, nearest first."""
    closed: bool
    """Whether no base outside the project can add anything."""

    def method(self, name: str) -> Function | None:
        """The method of that name, the nearest one."""
        for one in self.chain:
            for node in one.node.body:
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == name:
                    return Function(node, one.module)
        return None

    def has(self, name: str) -> bool:
        """Whether an object of the class may have this attribute."""
        if not self.closed or (name.startswith("__") and name.endswith("__")):
            return True
        return self.method("__getattr__") is not None or name in self.attributes

    @property
    def attributes(self) -> frozenset[str]:
        """Every attribute that the text of the classes shows."""
        return frozenset(name for one in self.chain for name in _attributes(one.node))

    @property
    def called(self) -> Function | None:
        """What runs when an object is called, if the project says so."""
        return next((found for name in CALLED if (found := self.method(name)) is not None), None)

    @property
    def is_dataclass(self) -> bool:
        return any("dataclass" in ast.unparse(mark) for mark in self.own.node.decorator_list)


def shape_of(project: Project, own: Class) -> Shape:
    """The class with all that its bases inside the project add."""
    chain: list[Class] = []
    closed = not own.node.keywords
    waiting = [own]
    while waiting:
        one = waiting.pop(0)
        if one in chain:
            continue
        chain.append(one)
        for base in one.node.bases:
            found = _base(project, one, base)
            if isinstance(found, Class):
                waiting.append(found)
            elif not found:
                closed = False
    marks = [ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in own.node.decorator_list]
    return Shape(own, tuple(chain), closed and all(mark == "dataclass" for mark in marks))


def _base(project: Project, one: Class, base: ast.expr) -> Class | bool:
    """A base class of the project; else whether it is one that adds nothing."""
    text = ast.unparse(base).partition("[")[0]
    if text.rpartition(".")[2] in PLAIN_BASES:
        return True
    module = project.module(one.module)
    found = _through(project, module, text) if module is not None else Outside(text)
    return found if isinstance(found, Class) else False


def _through(project: Project, module: Module, text: str) -> object:
    first, _, rest = text.partition(".")
    found = project.member(module, first)
    for part in rest.split(".") if rest else []:
        if not isinstance(found, Module):
            return None
        found = project.member(found, part)
    return found


def _attributes(node: ast.ClassDef) -> Iterator[str]:
    for statement in node.body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
        else:
            yield from bound_names(statement)
    for inner in ast.walk(node):
        if not isinstance(inner, ast.Attribute) or not isinstance(inner.ctx, ast.Store):
            continue
        if isinstance(inner.value, ast.Name) and inner.value.id in ("self", "cls"):
            yield inner.attr
