"""What can be told of a project by reading it: it parses, its names and imports are there, the contract's
functions stand where they should."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.paper.develop.lint import linted
from reenact.paper.develop.packages import Prepared, imported
from reenact.paper.develop.problem import Problem, Where
from reenact.paper.project import DATA, ENTRY, MODEL, Project

FUNCTIONS = {DATA: ("sample_batch",), MODEL: ("build_model", "loss_on")}
"""What our driver calls."""
MAY_BE_EMPTY = "requirements.txt"
"""Plain Python needs nothing."""


def objections(project: Project, prepared: Prepared, due: tuple[str, ...]) -> tuple[Problem, ...]:
    """Everything found by reading. `due` names the files that must be there by now."""
    return tuple(_objections(project, prepared, due))


def _objections(project: Project, prepared: Prepared, due: tuple[str, ...]) -> Iterator[Problem]:
    for name in due:
        empty = not project.files.get(name, "").strip()
        if name not in project.files or (empty and name != MAY_BE_EMPTY):
            yield Problem(Where.STATIC, "This file is missing or empty; the project must have it.", name)
    broken = tuple(_broken(project))
    yield from broken
    if broken:
        return
    for name in sorted(project.files):
        if name.endswith(".py"):
            yield from linted(name, project.files[name])
    yield from _contract(project, due)
    yield from _unresolved(project)
    for module in prepared.lacking:
        offered = f" Proposed: {', '.join(prepared.proposed)}." if prepared.proposed else ""
        why = f" {' '.join(prepared.notes)}" if prepared.notes else ""
        yield Problem(Where.STATIC, f"The module `{module}` cannot be imported here.{offered}{why}")


def _broken(project: Project) -> Iterator[Problem]:
    for name in sorted(project.files):
        if not name.endswith(".py"):
            continue
        try:
            ast.parse(project.files[name])
        except SyntaxError as error:
            yield Problem(Where.STATIC, f"It does not parse: {error.msg}.", name, error.lineno or 0)
        except (ValueError, RecursionError) as error:
            yield Problem(Where.STATIC, f"It does not parse: {error}.", name)


def _contract(project: Project, due: tuple[str, ...]) -> Iterator[Problem]:
    """A method without gradients need not have what only a training by gradients has."""
    trees = project.trees()
    by_gradient = bool({"torch", "keras", "lightning"} & set(imported(project)))
    for file, functions in FUNCTIONS.items():
        if file not in due or file not in trees or (file == MODEL and not by_gradient):
            continue
        names = _defined(trees[file])
        for function in functions:
            if function not in names and "*" not in names:
                yield Problem(Where.STATIC, f"It must define `{function}`, as the contract says.", file)
    if ENTRY not in due or ENTRY not in project.files:
        return
    for option in ("--seed", "--dry-run", "--scale"):
        if not any(option in text for name, text in project.files.items() if name.endswith(".py")):
            yield Problem(Where.STATIC, f"It must understand the option {option}.", ENTRY)


def _unresolved(project: Project) -> Iterator[Problem]:
    """Imports of project modules and names that are not there."""
    trees = project.trees()
    for file, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                yield from _from(node, file, trees, project)
            elif isinstance(node, ast.Import):
                for one in node.names:
                    top, rest = one.name.partition(".")[0], one.name.replace(".", "/")
                    if top in project.modules and "." in one.name and not _module(rest, trees):
                        yield Problem(
                            Where.STATIC, f"There is no project module `{one.name}`.", file, node.lineno
                        )


def _from(
    node: ast.ImportFrom, file: str, trees: dict[str, ast.Module], project: Project
) -> Iterator[Problem]:
    base = file.rsplit("/", node.level)[0] if node.level and "/" in file else ""
    path = (node.module or "").replace(".", "/")
    if node.level:
        path = f"{base}/{path}".strip("/")
    elif path.partition("/")[0] not in project.modules:
        return
    found = _module(path, trees)
    if not found and not any(name.startswith(f"{path}/") for name in trees):
        yield Problem(Where.STATIC, f"There is no project module `{node.module or '.'}`.", file, node.lineno)
        return
    names = _defined(trees[found]) if found else set()
    for one in node.names:
        inner = _module(f"{path}/{one.name}".strip("/"), trees)
        if one.name != "*" and one.name not in names and not inner and "*" not in names:
            yield Problem(
                Where.STATIC, f"`{node.module or '.'}` has no `{one.name}` to import.", file, node.lineno
            )


def _module(path: str, trees: dict[str, ast.Module]) -> str:
    return next((name for name in (f"{path}.py", f"{path}/__init__.py") if name in trees), "")


def _defined(tree: ast.Module) -> set[str]:
    """Names that a module has at its top level; `*` when it imports all of another."""
    names: set[str] = set()
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names |= {(one.asname or one.name).partition(".")[0] for one in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        else:
            waiting += ast.iter_child_nodes(node)
    return names
