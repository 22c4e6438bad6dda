"""The rewrites by name, and all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from benchmarks.blind.rewrites.comments import without_comments
from benchmarks.blind.rewrites.helpers import inlined, split_losses
from benchmarks.blind.rewrites.imports import other_imports
from benchmarks.blind.rewrites.literals import named_literals
from benchmarks.blind.rewrites.names import renamed
from benchmarks.blind.rewrites.order import reordered
from benchmarks.blind.rewrites.text import Project

Rewrite = Callable[[Project], Project]
ALL = "all"
REWRITES: Mapping[str, Rewrite] = {
    "inline": inlined,
    "split": split_losses,
    "literals": named_literals,
    "imports": other_imports,
    "order": reordered,
    "names": renamed,
    "comments": without_comments,
}
"""In the order in which all of them are done: helpers and constants get other names too."""


def rewritten(project: Project, name: str) -> Project:
    """By one rewrite, or by `all`. Raises ValueError where it cannot be done."""
    for known, rewrite in REWRITES.items():
        if name in (known, ALL):
            project = rewrite(project)
    return project
