"""Numbers, switches and strings that are given to a call, as constants with a name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from benchmarks.blind.rewrites.text import Edit, Project, Source, fresh_names, header_end

SPARED = frozenset({"print", "format", "getattr", "setattr", "hasattr", "add_argument", "TypeVar"})
"""Calls whose strings are text for people or names."""


def named_literals(project: Project) -> Project:
    """Each file gets its constants at the top."""
    names = fresh_names(project, "CONST_")
    return project.with_files(
        {path: _named(source, names) for path, source in project.files.items()}
    )


def _named(source: Source, names: Iterator[str]) -> Source:
    edits, constants, origins = [], [], []
    for constant in _arguments(source.tree):
        name = next(names)
        edits.append(Edit(source.start_of(constant), source.end_of(constant), name))
        constants.append(f"{name} = {source.segment(constant)}")
        origins.append(source.origins[constant.lineno - 1])
    if not constants:
        return source
    top = header_end(source.tree)
    text = "\n".join(constants) + "\n"
    return source.edited([*edits, Edit((top, 0), (top, 0), text, tuple(origins))])


def _arguments(tree: ast.Module) -> Iterator[ast.Constant]:
    """Constants of one line that a call is given, in no f-string."""
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.JoinedStr):
            continue
        if isinstance(node, ast.Call) and _called(node) not in SPARED:
            for value in (*node.args, *(keyword.value for keyword in node.keywords)):
                if _is_plain(value):
                    yield value
        stack += list(ast.iter_child_nodes(node))[::-1]


def _is_plain(value: ast.expr) -> TypeGuard[ast.Constant]:
    return (
        isinstance(value, ast.Constant)
        and isinstance(value.value, bool | int | float | str)
        and value.lineno == value.end_lineno
    )


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Name):
        return call.func.id
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""
