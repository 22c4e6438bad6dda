"""Definitions at the top of a file in another order, where nothing needs the old one."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from benchmarks.blind.rewrites.text import Project, Source

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def reordered(project: Project) -> Project:
    """Last things first, as far as each needs no other when it is defined."""
    return project.with_files({path: _reordered(source) for path, source in project.files.items()})


def _reordered(source: Source) -> Source:
    order = list(range(len(source.lines)))
    for run in _runs(source.tree):
        names = [definition.name for definition in run]
        if len(set(names)) < len(names):
            continue
        first = [_first_line(source, definition) for definition in run]
        ends = [*first[1:], run[-1].end_lineno or 0]
        parts = {
            definition.name: list(range(start, end))
            for definition, start, end in zip(run, first, ends, strict=True)
        }
        moved = [line for name in _last_first(run) for line in parts[name]]
        order[first[0] : ends[-1]] = moved
    return source.in_order(order)


def _runs(tree: ast.Module) -> Iterator[list[Definition]]:
    """Definitions that follow one another."""
    run: list[Definition] = []
    for statement in tree.body:
        if isinstance(statement, Definition):
            run.append(statement)
            continue
        if len(run) > 1:
            yield run
        run = []
    if len(run) > 1:
        yield run


def _first_line(source: Source, definition: Definition) -> int:
    """From 0: its decorators and the comments directly above belong to it."""
    line = min([definition.lineno, *(one.lineno for one in definition.decorator_list)]) - 1
    while line > 0 and source.lines[line - 1].startswith("#"):
        line -= 1
    return line


def _last_first(run: Sequence[Definition]) -> list[str]:
    names = [definition.name for definition in run]
    needs = {definition.name: _needed_at_once(definition) & set(names) for definition in run}
    acting = [definition.name for definition in run if _acts(definition)]
    for earlier, later in pairwise(acting):
        needs[later].add(earlier)
    placed: list[str] = []
    waiting = names[::-1]
    while waiting:
        ready = next(name for name in waiting if needs[name] - {name} <= set(placed))
        waiting.remove(ready)
        placed.append(ready)
    return placed


def _evaluated(definition: Definition) -> Iterator[ast.AST]:
    """What runs when it is defined: all but the bodies of functions."""
    stack: list[ast.AST] = [definition]
    while stack:
        node = stack.pop()
        yield node
        body = getattr(node, "body", None)
        inner = body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else []
        if isinstance(node, ast.Lambda):
            inner = [node.body]
        skipped = {id(child) for child in inner or []}
        stack += [child for child in ast.iter_child_nodes(node) if id(child) not in skipped]


def _needed_at_once(definition: Definition) -> set[str]:
    names = {node.id for node in _evaluated(definition) if isinstance(node, ast.Name)}
    calls = any(isinstance(node, ast.Call) for node in _evaluated(definition))
    # A function that is called now may need any other that its body names.
    return names | (_every_name(definition) if calls else set())


def _every_name(definition: Definition) -> set[str]:
    return {node.id for node in ast.walk(definition) if isinstance(node, ast.Name)}


def _acts(definition: Definition) -> bool:
    """Whether defining it calls something, as a decorator or a default does."""
    decorated = any(
        isinstance(node, Definition) and node.decorator_list for node in _evaluated(definition)
    )
    return decorated or any(isinstance(node, ast.Call) for node in _evaluated(definition))
