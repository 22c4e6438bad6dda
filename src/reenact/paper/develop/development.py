"""What came of the development: every round, and the best version, never simply the last."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.codegen.project import Project
from reenact.paper.criterion import Judged
from reenact.paper.develop.checks import Stage


@dataclass(frozen=True, slots=True)
class Round:
    """One version of the code, and what was found of it."""

    number: int
    stage: Stage
    identity: str
    """Of the project."""
    runs: bool
    """Whether it passed every check of its stage."""
    passed: tuple[str, ...]
    """Ids of criteria; all three empty when the version was not verified."""
    failed: tuple[str, ...]
    unknown: tuple[str, ...]
    turned: tuple[str, ...]
    """Criteria that hold now and did not in the best version before."""
    problems: tuple[str, ...]
    edits: int
    """Lines changed against the version it was made from."""
    tries: int = 0
    """Attempts to mend it."""
    commit: str = ""
    """In the history of the output folder; empty where there is none."""


@dataclass(frozen=True)
class Development:
    """The answer."""

    project: Project
    """The best version seen."""
    rounds: tuple[Round, ...]
    best: int
    """Number of the round that it is of."""
    runs: bool
    """Whether it passes the sampled tests and the dry run."""
    judged: tuple[Judged, ...]
    """What was found of each criterion in it."""
    notes: tuple[str, ...]
    """Summary aside: decisions, what was assumed, what is open, what could not be done."""
    requirements: tuple[str, ...]
    """Packages that were proposed for modules that are missing here."""
    stand_in: str = ""
    """What stands in for data that could not be had; empty when the data are the real ones."""
    summary: str = ""
    """The research role's last summary."""


def in_short(ids: Sequence[str]) -> str:
    """Ids of criteria in words: three and more in a row as `F3-F9`."""
    rows: list[list[str]] = []
    for name in ids:
        if rows and _number(name) == _number(rows[-1][-1]) + 1:
            rows[-1].append(name)
        else:
            rows.append([name])
    return ", ".join(f"{row[0]}-{row[-1]}" if len(row) > 2 else ", ".join(row) for row in rows)


def _number(name: str) -> int:
    digits = name.lstrip("F")
    return int(digits) if digits.isdecimal() else -2
