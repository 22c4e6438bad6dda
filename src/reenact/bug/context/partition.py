"""Modules of a repository, as RepGen cuts it: a module is a folder, ordered by its best snippet.

Where a project lies in one folder, as many small ones do, its files stand in for the missing modules.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reenact.bug.context.code import Code
from reenact.bug.context.rank import Ranked

NEAR = 0.5
"""Share of the very best score that a module's best snippet has when it may well be meant."""
FAR = 0.25
"""A module below this share is none of the report's."""


@dataclass(frozen=True, slots=True)
class Part:
    """One module with its ranked chunks, best first."""

    name: str
    ranked: tuple[Ranked, ...]

    @property
    def score(self) -> float:
        return self.ranked[0].score if self.ranked else 0.0


def partition(code: Code, ranked: tuple[Ranked, ...], most: int) -> tuple[Part, ...]:
    """At most `most` modules: near folders, near files, then farther ones; tests only where all is tests."""
    folders = _grouped(ranked, lambda one: str(code.path(one.chunk).parent))
    files = _grouped(ranked, lambda one: str(code.path(one.chunk)))
    whole = {part.ranked for part in folders}
    parts = [Part(_folder_name(part.name), part.ranked) for part in folders]
    parts += [part for part in files if part.ranked not in whole]
    best = folders[0].score
    ordered = sorted(parts, key=lambda part: -part.score)
    inside = [part for part in ordered if not _is_aside(code, part)] or ordered
    near = [part for part in inside if part.score >= NEAR * best]
    near.sort(key=lambda part: not part.name.endswith("/"))
    rest = [part for part in inside if FAR * best <= part.score < NEAR * best]
    return tuple([*near, *rest][:most] or inside[:1])


def _is_aside(code: Code, part: Part) -> bool:
    return code.index.is_aside(part.ranked[0].chunk)


def _folder_name(name: str) -> str:
    return "the top folder/" if name == "." else f"{name}/"


def _grouped(ranked: tuple[Ranked, ...], key: Callable[[Ranked], str]) -> list[Part]:
    groups: dict[str, list[Ranked]] = {}
    for one in ranked:
        groups.setdefault(key(one), []).append(one)
    return [Part(name, tuple(members)) for name, members in groups.items()]
