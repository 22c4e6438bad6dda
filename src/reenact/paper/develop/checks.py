"""What a version must pass: it is read first, then sampled, then run; the first that objects speaks."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from reenact.journal import Scope
from reenact.paper.develop.problem import Problem, Where
from reenact.paper.develop.statics import objections
from reenact.paper.develop.trying import Tried, dry_run, try_batch, try_method
from reenact.paper.develop.workshop import Workshop
from reenact.paper.project import DATA, EXPECTED, MODEL, Project

ORDER = tuple(Where)


class Stage(StrEnum):
    """What is being worked on."""

    DATA = "data"
    METHOD = "method"
    EXPERIMENT = "experiment"
    REFACTOR = "refactor"
    REVISION = "revision"

    @property
    def due(self) -> tuple[str, ...]:
        """Files that must be there when the stage is over."""
        if self is Stage.DATA:
            return ("config.py", DATA)
        return ("config.py", DATA, MODEL) if self is Stage.METHOD else EXPECTED

    @property
    def new(self) -> tuple[str, ...]:
        """Files that the stage writes."""
        if self is Stage.METHOD:
            return (MODEL,)
        before = Stage.METHOD.due if self is Stage.EXPERIMENT else ()
        return tuple(name for name in self.due if name not in before)


@dataclass(frozen=True, slots=True)
class Checked:
    """What the checks found of one version."""

    problems: tuple[Problem, ...]
    facts: tuple[str, ...] = ()
    stand_in: str = ""
    proposed: tuple[str, ...] = ()
    """Requirements for modules that this interpreter lacks."""
    notes: tuple[str, ...] = ()

    @property
    def reached(self) -> tuple[int, int]:
        """How far it came: which check objected, and how often."""
        if not self.problems:
            return len(ORDER), 0
        return ORDER.index(self.problems[0].where), -len(self.problems)


def checked(stage: Stage, project: Project, shop: Workshop, scope: Scope) -> Checked:
    """All checks that are due at a stage, in their order, up to the first that objects."""
    prepared = shop.prepared(project)
    found = objections(project, prepared, stage.due)
    facts: list[str] = []
    stand_in = ""
    if not found:
        for tried in _tries(stage, project, shop, scope):
            found = tried.problems
            facts += tried.facts
            stand_in = stand_in or tried.stand_in
            if found:
                break
    return Checked(found, tuple(facts), stand_in, prepared.proposed, prepared.notes)


def _tries(stage: Stage, project: Project, shop: Workshop, scope: Scope) -> list[Tried]:
    if stage is Stage.DATA:
        return [try_batch(project, shop, scope)]
    method = try_method(project, shop, scope)
    if stage is Stage.METHOD or method.problems:
        return [method]
    return [method, dry_run(project, shop, scope)]
