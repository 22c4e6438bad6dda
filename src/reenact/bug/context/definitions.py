"""Definitions that a report means, and those that chosen code rests on: bases, constructors, callees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from reenact.bug.context.clues import Clues
from reenact.bug.context.code import Code
from reenact.bug.context.rank import Ranked
from reenact.bug.context.surface import Target
from reenact.bug.project.classes import Shape, shape_of
from reenact.bug.project.lookup import Class, Found, Function, Module

MOST_NAMES = 80
"""Called names of one chunk that are followed."""


@dataclass(frozen=True, slots=True)
class Dependency:
    """A chunk that another one rests on."""

    chunk: int
    why: str


def dependencies(code: Code, number: int) -> tuple[Dependency, ...]:
    """Definitions that a chunk names, bases first, each once."""
    path = code.path(number)
    tree = code.tree(path)
    module = code.project.module(code.modules.get(path, ""))
    if tree is None or module is None:
        return ()
    owner = find_class(tree, code.chunk(number).name)
    reader = _Reader(code, module, owner)
    found: dict[int, Dependency] = {}
    nodes = code.nodes(number)
    for one in (*reader.bases(nodes), *reader.calls(nodes)):
        if one.chunk != number:
            found.setdefault(one.chunk, one)
    return tuple(found.values())


def find_class(tree: ast.Module, name: str) -> ast.ClassDef | None:
    """The class that a dotted name lies in, or is."""
    parts = name.split(".")
    body: list[ast.stmt] = tree.body
    inner: ast.ClassDef | None = None
    for part in parts:
        step = next((one for one in body if isinstance(one, ast.ClassDef) and one.name == part), None)
        if step is None:
            return inner
        inner, body = step, step.body
    return inner


def constructor(code: Code, found: Class) -> int | None:
    """The chunk of what makes an object of a class: its own `__init__`, or the one it inherits."""
    made = shape_of(code.project, found).method("__init__")
    place = code.place(made) if made is not None else None
    return place[1] if place is not None else None


class _Reader:
    """Names of one file, resolved through the project."""

    def __init__(self, code: Code, module: Module, owner: ast.ClassDef | None) -> None:
        self._code = code
        self._module = module
        self._shape: Shape | None = None
        if owner is not None:
            self._shape = shape_of(code.project, Class(owner, module.name))

    def bases(self, nodes: list[ast.AST]) -> Iterator[Dependency]:
        classes = [node for node in nodes if isinstance(node, ast.ClassDef)]
        shapes = [shape_of(self._code.project, Class(node, self._module.name)) for node in classes]
        if self._shape is not None and not classes:
            shapes.append(self._shape)
        for shape in shapes:
            for base in shape.chain[1:]:
                yield from self._placed(base, f"base class of {shape.own.name}")

    def calls(self, nodes: list[ast.AST]) -> Iterator[Dependency]:
        called = [node.func for node in nodes if isinstance(node, ast.Call)]
        called += [
            base for node in nodes if isinstance(node, ast.FunctionDef) for base in node.decorator_list
        ]
        for name in list(dict.fromkeys(dotted(one) for one in called))[:MOST_NAMES]:
            found = self._resolve(name)
            if isinstance(found, Function | Class):
                yield from self._placed(found, f"called as {name}")

    def _resolve(self, name: str) -> Found | Function | None:
        first, _, rest = name.partition(".")
        if first in ("self", "cls", "super()"):
            return self._own(first, rest)
        found: Found | None = self._code.project.member(self._module, first) if first else None
        for part in rest.split(".") if rest else ():
            if isinstance(found, Class):
                return shape_of(self._code.project, found).method(part) or found
            if not isinstance(found, Module):
                return None
            found = self._code.project.member(found, part)
        return found

    def _own(self, first: str, rest: str) -> Function | None:
        if self._shape is None or not rest or "." in rest:
            return None
        chain = self._shape.chain[1:] if first == "super()" else self._shape.chain
        return Shape(self._shape.own, chain, self._shape.closed).method(rest)

    def _placed(self, found: Function | Class, why: str) -> Iterator[Dependency]:
        place = self._code.place(found)
        if place is not None:
            yield Dependency(place[1], why)
        made = constructor(self._code, found) if isinstance(found, Class) else None
        if made is not None and (place is None or made != place[1]):
            yield Dependency(made, f"constructor of {found.node.name}")


def dotted(node: ast.AST) -> str:
    """The text of a chain of attributes: `self.net.fit`, `super().fit`; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        parts.append("super()")
    elif isinstance(node, ast.Name):
        parts.append(node.id)
    else:
        return ""
    return ".".join(reversed(parts))


MOST_TARGETS = 12


def imported_definitions(code: Code, clues: Clues) -> Iterator[tuple[str, Class | Function]]:
    """Dotted names of the report that lead to a definition of the project."""
    names = dict.fromkeys(clues.imported.values())
    for dotted in clues.dotted:
        first, _, rest = dotted.partition(".")
        names[f"{clues.imported.get(first, first)}.{rest}"] = None
    for name in names:
        if code.project.owns(name):
            found = code.project.find(name)
            if isinstance(found, Class | Function):
                yield name, found


def exact_chunks(code: Code, clues: Clues) -> Mapping[int, str]:
    """Chunks of imported definitions, and of the methods of imported classes that the report names."""
    found: dict[int, str] = {}
    for name, one in imported_definitions(code, clues):
        if (place := code.place(one)) is not None:
            found.setdefault(place[1], name)
        if isinstance(one, Class):
            for method in _named_methods(code, one, clues):
                if (place := code.place(method)) is not None:
                    found.setdefault(place[1], f"{name}, which has {method.node.name}")
    return found


def _named_methods(code: Code, found: Class, clues: Clues) -> Iterator[Function]:
    shape = shape_of(code.project, found)
    for name in sorted(clues.names):
        method = shape.method(name) if not name.startswith("__") else None
        if method is not None:
            yield method


def mentioned(code: Code, clues: Clues, ranked: tuple[Ranked, ...]) -> tuple[Target, ...]:
    """Targets for the public surface: imports first, then what the report points at, best first."""
    targets = [Target(found) for _, found in imported_definitions(code, clues)]
    for one in ranked:
        if one.pointed and not code.index.is_aside(one.chunk):
            targets += targets_of(code, one.chunk)
    return tuple(targets[:MOST_TARGETS])


def targets_of(code: Code, number: int) -> Iterator[Target]:
    """The definition of a chunk, when a user could call it: a method with its class."""
    chunk = code.chunk(number)
    path = code.path(number)
    module = code.project.module(code.modules.get(path, ""))
    tree = code.tree(path)
    private = any(part.startswith("_") and part != "__init__" for part in chunk.name.split("."))
    if module is None or tree is None or not chunk.name or private:
        return
    first, _, rest = chunk.name.partition(".")
    thing = module.names.get(first)
    if not rest and isinstance(thing, Class | Function):
        yield Target(thing)
    elif isinstance(thing, Class) and (node := find_class(tree, chunk.name)) is not None:
        owner = Class(node, module.name)
        method = shape_of(code.project, owner).method(chunk.name.rpartition(".")[2])
        yield Target(method, owner) if method is not None else Target(owner)
