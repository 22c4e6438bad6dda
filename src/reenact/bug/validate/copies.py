"""Code of the project that a script writes anew or copies, whatever it calls it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

from reenact.bug.project.files import ProjectFiles
from reenact.bug.project.lookup import Project
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem

Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
ASIDE = frozenset({"test", "tests", "testing", "docs", "examples", "tutorials", "benchmarks"})
"""Folders whose code is not under test."""
SEVERAL = 3
"""Statements from which on an equal body is a copy and no coincidence."""


def copied(tree: ast.Module, project: Project) -> Iterator[Problem]:
    """Functions and classes that the project has: by name and form at the top level, by body anywhere."""
    for node in ast.walk(tree):
        if not isinstance(node, Definition):
            continue
        if node in tree.body and _is_anew(node, project.files):
            yield _anew(f"`{node.name}` is defined anew; import the project's own.", node)
        elif _is_copy(node, project):
            yield _anew(f"`{node.name}` is a copy of project code; import the original.", node)


def _anew(sentence: str, node: Definition) -> Problem:
    return Problem(Stage.RELEVANCE, sentence, line=node.lineno)


def _is_anew(node: Definition, files: ProjectFiles) -> bool:
    """Whether the project has one of that name and form: the same parameters, or a method in common."""
    for path in files.definitions.get(node.name, ()):
        if ASIDE.intersection(path.parts) or path.name.startswith("test_"):
            continue
        for other in _definitions(files.text(path)):
            if other.name == node.name and _forms(node) & _forms(other):
                return True
    return False


def _forms(node: Definition) -> frozenset[str]:
    """The parameters of a function as one word, the methods of a class as several."""
    if isinstance(node, ast.ClassDef):
        methods = (one.name for one in node.body if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef))
        return frozenset(methods) - {"__init__"}
    return frozenset({ast.unparse(ast.arguments([], node.args.args, None, [], [], None, []))} - {""})


def _is_copy(node: Definition, project: Project) -> bool:
    if len(node.body) < SEVERAL:
        return False
    body = _body(node)
    if body not in project.copies:
        project.copies[body] = any(
            _holds(node, body, project.files.text(path)) for path in project.files.paths
        )
    return project.copies[body]


def _holds(node: Definition, body: str, text: str) -> bool:
    """Whoever copies a function keeps the words that are rare in it; only files that hold them are parsed."""
    names = {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return all(name in text for name in names) and body in _bodies(text)


def _bodies(text: str) -> set[str]:
    return {_body(node) for node in _definitions(text) if len(node.body) >= SEVERAL}


def _definitions(text: str) -> list[Definition]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, Definition)]


def _body(node: Definition) -> str:
    first = node.body[0]
    told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return "\n".join(ast.dump(line) for line in node.body[1 if told else 0 :])
