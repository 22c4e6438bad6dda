"""Definitions that a report means, and those that chosen code rests on: bases, constructors, callees."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from reenact.bug.context.clues import Clues
from reenact.bug.context.index import CodeIndex
from reenact.bug.context.rank import Ranked
from reenact.bug.context.surface import Target
from reenact.bug.project.codebase import Class, Found, Function, Module, methods_of
from reenact.codegen.syntax import dotted_name

MOST_NAMES = 80
"""Called names of one chunk that are followed."""
MOST_TARGETS = 12


def dependencies(code: CodeIndex, number: int) -> Mapping[int, str]:
    """Chunks of the definitions that a chunk names, bases first, and why each is one."""
    path = code.path(number)
    module = code.project.module(code.files.module_names.get(path, ""))
    if module is None:
        return {}
    owner = class_around(code, number, module)
    nodes = code.nodes(number)
    found: dict[int, str] = {}
    for definition, why in (*_bases(nodes, owner, module, code), *_calls(nodes, owner, module, code)):
        place = code.place(definition)
        if place is not None:
            found.setdefault(place[1], why)
        # What makes an object of a class: its own `__init__`, or the one it inherits.
        init = definition.methods.get("__init__") if isinstance(definition, Class) else None
        made = code.place(init) if init is not None else None
        if made is not None:
            found.setdefault(made[1], f"constructor of {definition.node.name}")
    found.pop(number, None)
    return found


def class_around(code: CodeIndex, number: int, module: Module) -> Class | None:
    """The class that a chunk lies in, or is."""
    tree = code.tree(code.path(number))
    body: list[ast.stmt] = tree.body if tree is not None else []
    inner: Class | None = None
    for part in code.chunks[number].name.split("."):
        step = next((one for one in body if isinstance(one, ast.ClassDef) and one.name == part), None)
        if step is None:
            break
        inner, body = Class(step, module.name, code.project), step.body
    return inner


def _bases(
    nodes: list[ast.AST], owner: Class | None, module: Module, code: CodeIndex
) -> Iterator[tuple[Class, str]]:
    classes = [Class(node, module.name, code.project) for node in nodes if isinstance(node, ast.ClassDef)]
    for one in classes or ([owner] if owner is not None else []):
        yield from ((base, f"base class of {one.name}") for base in one.chain[1:])


def _calls(
    nodes: list[ast.AST], owner: Class | None, module: Module, code: CodeIndex
) -> Iterator[tuple[Class | Function, str]]:
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    called += [mark for node in nodes if isinstance(node, ast.FunctionDef) for mark in node.decorator_list]
    for name in list(dict.fromkeys(map(dotted_name, called)))[:MOST_NAMES]:
        first, _, rest = name.partition(".")
        if first in ("self", "cls", "super()"):
            chain = owner.chain[1 if first == "super()" else 0 :] if owner is not None else ()
            found: Found | None = methods_of(chain).get(rest)
        else:
            found = _resolved(name, module, code)
        if isinstance(found, Function | Class):
            yield found, f"called as {name}"


def _resolved(name: str, module: Module, code: CodeIndex) -> Found | None:
    found: Found = module
    for part in name.split("."):
        if isinstance(found, Class):
            return found.methods.get(part, found)
        if not isinstance(found, Module):
            return None
        found = code.project.member(found, part)
    return found


def imported_definitions(code: CodeIndex, clues: Clues) -> Iterator[tuple[str, Class | Function]]:
    """Dotted names of the report that lead to a definition of the project."""
    names = dict.fromkeys(clues.imported.values())
    for dotted in clues.dotted:
        first, _, rest = dotted.partition(".")
        names[f"{clues.imported.get(first, first)}.{rest}"] = None
    for name in names:
        found = code.project.find(name)
        if isinstance(found, Class | Function):
            yield name, found


def exact_chunks(code: CodeIndex, clues: Clues) -> Mapping[int, str]:
    """Chunks of imported definitions, and of the methods of imported classes that the report names."""
    found: dict[int, str] = {}
    for name, one in imported_definitions(code, clues):
        if (place := code.place(one)) is not None:
            found.setdefault(place[1], name)
        methods = one.methods if isinstance(one, Class) else {}
        for method in sorted(methods.keys() & clues.names.keys()):
            if not method.startswith("__") and (place := code.place(methods[method])) is not None:
                found.setdefault(place[1], f"{name}, which has {method}")
    return found


def mentioned(code: CodeIndex, clues: Clues, ranked: tuple[Ranked, ...]) -> tuple[Target, ...]:
    """Targets for the public surface: imports first, then what the report points at, best first."""
    targets = [Target(found) for _, found in imported_definitions(code, clues)]
    for one in ranked:
        if one.pointed and not code.is_aside(one.chunk):
            targets += targets_of(code, one.chunk)
    return tuple(targets[:MOST_TARGETS])


def targets_of(code: CodeIndex, number: int) -> Iterator[Target]:
    """The definition of a chunk, when a user could call it: a method with its class."""
    name = code.chunks[number].name
    module = code.project.module(code.files.module_names.get(code.path(number), ""))
    private = any(part.startswith("_") and part != "__init__" for part in name.split("."))
    if module is None or not name or private:
        return
    first, _, rest = name.partition(".")
    thing = module.names.get(first)
    if not rest and isinstance(thing, Class | Function):
        yield Target(thing)
    elif isinstance(thing, Class) and (owner := class_around(code, number, module)) is not None:
        method = owner.methods.get(name.rpartition(".")[2])
        yield Target(method, owner) if method is not None else Target(owner)
