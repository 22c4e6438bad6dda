"""What is imported under a short name under its long one, and the other way round."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from benchmarks.blind.rewrites.scopes import Scopes, Use
from benchmarks.blind.rewrites.substitute import substituted
from benchmarks.blind.rewrites.text import Edit, Project, Source


@dataclass(frozen=True, slots=True)
class Binding:
    """What one part of an import statement becomes."""

    name: str
    """That it binds now."""
    statement: str
    instead: str
    """What is written for the name; the same where it keeps it."""


def other_imports(project: Project) -> Project:
    """`import a.b as c` becomes `from a import b as c`, and `from a import b` is written `a.b`."""
    return project.with_files(
        {path: _changed(source, project) for path, source in project.files.items()}
    )


def _changed(source: Source, project: Project) -> Source:
    scopes = Scopes(source.tree)
    bindings = {
        statement: found
        for statement in source.tree.body
        if isinstance(statement, ast.Import | ast.ImportFrom)
        and (found := list(_bindings(statement, project)))
        and len(found) == len(statement.names)
        and all(_is_free(one, scopes) for one in found)
    }
    instead = {one.name: one.instead for found in bindings.values() for one in found}
    words: dict[ast.AST, dict[str, str]] = {
        use.node: {use.name: instead[use.name]}
        for use in scopes.uses
        if isinstance(use.node, ast.Name)
        and use.owner is scopes.module
        and instead.get(use.name, use.name) != use.name
    }
    changed = substituted(source, words)
    # Names have changed within statements: these are still one for one.
    moved = {statement.lineno: found for statement, found in bindings.items()}
    edits = [
        _rewritten(changed, statement, moved[line])
        for statement, line in _same(changed.tree, source.tree)
        if line in moved
    ]
    return changed.edited(edits)


def _same(new: ast.Module, old: ast.Module) -> Iterator[tuple[ast.stmt, int]]:
    """Statements at the top with their old lines."""
    for now, before in zip(new.body, old.body, strict=True):
        yield now, before.lineno


def _rewritten(source: Source, statement: ast.stmt, found: list[Binding]) -> Edit:
    start, end = source.start_of(statement), source.end_of(statement)
    line = source.origins[start[0]].union(*source.origins_of(statement))
    text = ("; " if _shares_its_line(source, statement) else "\n").join(
        dict.fromkeys(one.statement for one in found)
    )
    return Edit(start, end, text, tuple(line for _ in text.split("\n")))


def _shares_its_line(source: Source, statement: ast.stmt) -> bool:
    start, end = source.start_of(statement), source.end_of(statement)
    rest = source.lines[end[0]][end[1] :].strip()
    return bool(source.lines[start[0]][: start[1]].strip() or (rest and not rest.startswith("#")))


def _bindings(statement: ast.Import | ast.ImportFrom, project: Project) -> Iterator[Binding]:
    for alias in statement.names:
        binding = (
            _of_import(alias)
            if isinstance(statement, ast.Import)
            else _of_from(statement.module or "", alias)
        )
        top = _module(statement, alias).partition(".")[0]
        is_relative = isinstance(statement, ast.ImportFrom) and statement.level > 0
        is_own = is_relative or top in project.modules or top == "__future__"
        if binding is not None and not is_own:
            yield binding


def _module(statement: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    return alias.name if isinstance(statement, ast.Import) else statement.module or ""


def _of_import(alias: ast.alias) -> Binding | None:
    if alias.asname is None:
        return None
    package, _, last = alias.name.rpartition(".")
    if package:
        words = f"{last} as {alias.asname}" if last != alias.asname else last
        return Binding(alias.asname, f"from {package} import {words}", alias.asname)
    return Binding(alias.asname, f"import {alias.name}", alias.name)


def _of_from(module: str, alias: ast.alias) -> Binding | None:
    if alias.name == "*":
        return None
    whole = f"{module}.{alias.name}"
    imported = whole if _is_module(whole) else module
    return Binding(alias.asname or alias.name, f"import {imported}", whole)


def _is_free(binding: Binding, scopes: Scopes) -> bool:
    """Whether the name is bound once, and the package's name everywhere means the package."""
    package = binding.instead.partition(".")[0]
    if binding.instead == binding.name:
        return True
    owners = [use for use in scopes.uses if use.name == binding.name and _binds(use)]
    others = [use for use in scopes.uses if use.name == package and _binds(use)]
    return (
        len([use for use in owners if use.owner is scopes.module]) == 1
        and all(_imports_package(use.node, package) for use in others)
        and not any(isinstance(use.node, ast.Global | ast.Nonlocal) for use in owners)
    )


def _binds(use: Use) -> bool:
    return not (isinstance(use.node, ast.Name) and isinstance(use.node.ctx, ast.Load))


def _imports_package(node: ast.AST, package: str) -> bool:
    if not isinstance(node, ast.alias):
        return False
    return node.asname is None and node.name.partition(".")[0] == package


@lru_cache
def _is_module(name: str) -> bool:
    """Whether there is a file of this name; nothing is imported."""
    top, *rest = name.split(".")
    try:
        spec = find_spec(top)
    except (ImportError, ValueError):
        return False
    places = spec.submodule_search_locations if spec is not None else None
    for place in places or ():
        path = Path(place).joinpath(*rest)
        if (
            path.is_dir()
            or path.with_suffix(".py").is_file()
            or list(path.parent.glob(f"{path.name}.*.so"))
        ):
            return True
    return False
