"""Verdicts of a judge that a revision leaves alone: they are not asked for again.

A pass stands where the files of its lines are the same and use nothing that was defined otherwise: no
constant, function or class of another file that changed, or that is made with one. Not seen is whether
something else still calls that code; the second judge reads all of the kept version. What did not pass is
judged again.
"""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from reenact.codegen.project import Project
from reenact.codegen.syntax import Definition, targets_of, top_level
from reenact.paper.criterion import Judged, Value

PROSE = (".md", "requirements.txt")
"""How files end that no code reads."""
_NAME = re.compile(r"[A-Za-z_]\w*")
STANDS = "Judged in an earlier version; what it rests on has not changed since."


@dataclass(frozen=True)
class Earlier:
    """A version that was verified before, and what was found of it."""

    project: Project
    judged: tuple[Judged, ...]


def carried(earlier: Earlier, project: Project) -> dict[str, Judged]:
    """Passes of the earlier version that stand for this one, by criterion."""
    before, after = earlier.project.files, project.files
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    if any(not name.endswith((".py", *PROSE)) for name in changed):
        # A file of settings may be read by any code.
        return {}
    # Constants, functions and classes that changed, came or went, and what is made with them.
    old, new = _definitions(earlier.project), _definitions(project)
    other = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    while more := {name for name, made in new.items() if name not in other and _words(made) & other}:
        other |= more
    same = {name for name in after if name not in changed and not _words(after[name]) & other}
    passed = [one for one in earlier.judged if one.value is Value.PASS and one.by == "judge"]
    kept = [one for one in passed if {line.file for line in one.lines} <= same]
    reasons = {one.criterion: one.reason.removesuffix(STANDS).rstrip() for one in kept}
    return {one.criterion: replace(one, reason=f"{reasons[one.criterion]} {STANDS}") for one in kept}


def _definitions(project: Project) -> Mapping[str, str]:
    """Names that files define at their top, with the code that does it; equal names of two files together."""
    found: dict[str, str] = {}
    for tree in project.trees().values():
        for node in top_level(tree.body):
            assigns = isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)
            parts = [one for target in targets_of(node) if assigns for one in ast.walk(target)]
            names = [one.id for one in parts if isinstance(one, ast.Name)]
            for name in [node.name] if isinstance(node, Definition) else names:
                found[name] = f"{found.get(name, '')}{ast.unparse(node)}\n"
    return found


def _words(source: str) -> frozenset[str]:
    """Every name in a text; the strings of Python too, by which `getattr` may find a thing."""
    return frozenset(_NAME.findall(source))
