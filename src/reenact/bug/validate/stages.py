"""All looks at a script before it is run, in their order; the first stage that objects ends them."""

from __future__ import annotations

from reenact.bug.options import BugAblations
from reenact.bug.project.lookup import Project
from reenact.bug.symptom import Symptom
from reenact.bug.validate.bindings import bindings_of
from reenact.bug.validate.names import misnamed
from reenact.bug.validate.parses import parsed
from reenact.bug.validate.relevance import irrelevant
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem
from reenact.codegen.static_checks import lint


def objections(
    text: str, project: Project, symptom: Symptom, parts: BugAblations | None = None
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
