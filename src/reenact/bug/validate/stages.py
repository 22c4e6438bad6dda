"""All looks at a script before it is run, in their order; the first stage that objects ends them.

It parses and is no larger than a script should be; names and arguments exist; it imports the project and
exercises it; a silent bug is observed in what the project gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.bug.options import BugAblations
from reenact.bug.project.lookup import Codebase, bound_names
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import Bindings, bindings_of, flowing
from reenact.bug.validate.honest import dishonest
from reenact.bug.validate.names import misnamed
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem
from reenact.codegen.static_checks import does_not_parse, lint

LONGEST = 40_000
"""Characters of a script."""


def parsed(text: str) -> ast.Module | Problem:
    """The tree of a script, or what keeps it from having one."""
    if not text.strip():
        return Problem(Stage.PARSE, "The script is empty.")
    if len(text) > LONGEST:
        return Problem(Stage.PARSE, f"The script has more than {LONGEST} characters. Show the bug, no more.")
    return does_not_parse(Stage.PARSE, text) or ast.parse(text)


def irrelevant(tree: ast.Module, bindings: Bindings, symptom: Symptom) -> tuple[Problem, ...]:
    """Why the outcome of this script would say nothing about the project."""
    return (
        *_unused(tree, bindings, symptom),
        *dishonest(tree, bindings, symptom),
        *_closing(tree, bindings, symptom),
    )


def _unused(tree: ast.Module, bindings: Bindings, symptom: Symptom) -> Iterator[Problem]:
    imports = [to for to in bindings.imported.values() if bindings.project.owns(to)]
    if not imports:
        some = ", ".join(sorted(bindings.project.files.packages)[:8])
        yield Problem(Stage.RELEVANCE, f"The script does not import the project. It consists of: {some}.")
        return
    by_import = symptom.explicit is not None and symptom.explicit.phase == "import"
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    if not by_import and not any(bindings.is_project(call.func) for call in calls):
        yield Problem(Stage.RELEVANCE, "The script imports the project but calls nothing of it.")


def _closing(tree: ast.Module, bindings: Bindings, symptom: Symptom) -> Iterator[Problem]:
    """For a silent bug: the names that the closing check looks at, and where their values come from."""
    check = symptom.check if symptom.is_silent else None
    if check is None or not check.relation.of_a_value:
        return
    top = {name for statement in _reached(tree.body) for name in bound_names(statement)}
    wanted = ("observed", "reference") if check.needs_reference else ("observed",)
    for name in wanted:
        if name not in top:
            yield Problem(Stage.RELEVANCE, f"The script must leave a top-level value named `{name}`.")
    if "observed" in top and "observed" not in flowing(tree, bindings):
        yield Problem(
            Stage.RELEVANCE,
            "`observed` does not come out of a call of the project, so it shows nothing of it.",
        )


def _reached(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for part in ("body", "orelse", "finalbody"):
                yield from _reached(getattr(statement, part, []))


def objections(
    text: str, project: Codebase, symptom: Symptom, parts: BugAblations | None = None
) -> tuple[Problem, ...]:
    """What is wrong with the script; empty when it may be run."""
    parts = parts or BugAblations()
    tree = parsed(text)
    if isinstance(tree, Problem):
        return (tree,)
    bindings = bindings_of(tree, project)
    if parts.static:
        found = (*lint(Stage.STATIC, text), *misnamed(tree, bindings))
        if found:
            return found
    return irrelevant(tree, bindings, symptom) if parts.relevance else ()
