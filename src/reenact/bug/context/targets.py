"""Definitions that a report means: those its code imports, and those it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reenact.bug.context.clues import Clues
from reenact.bug.context.code import Code
from reenact.bug.context.dependencies import find_class
from reenact.bug.context.rank import Ranked
from reenact.bug.context.surface import Target
from reenact.bug.project.classes import shape_of
from reenact.bug.project.module import Class, Function

MOST_TARGETS = 12


def imported(code: Code, clues: Clues) -> Iterator[tuple[str, Class | Function]]:
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
    for name, one in imported(code, clues):
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
    targets = [Target(found) for _, found in imported(code, clues)]
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
