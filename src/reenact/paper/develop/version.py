"""One version that is being worked on, with all that both roles know of it; and what they knew before."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from reenact.codegen.project import Project
from reenact.paper.criterion import Criterion, Judged, Value
from reenact.paper.develop.checks import Checked, Stage

Lines: TypeAlias = Iterable[str]
LONGEST = 4000
"""Characters of a sentence of the roles."""


@dataclass(frozen=True, slots=True)
class Brief:
    """What both roles are given before the first line of code; the paper's results are not in it."""

    paper_text: str
    """The paper without its results."""
    goal: str
    """What is to be reproduced."""
    review: str = ""
    """The three summaries, as text."""
    exemplars: str = ""
    """Cited work and its code, as text."""
    criteria: tuple[Criterion, ...] = ()
    addendum: str = ""
    """What authors or user add to the paper."""
    data: str = ""
    """What the user's folders hold, as a listing; empty when none were given."""
    machine: str = ""
    """What a run may use, and which packages there are."""

    def shared(self) -> dict[str, str]:
        """The variables that every prompt of development begins with."""
        criteria = (
            f"{one.id} (weight {one.weight}; {one.scope}): {one.fact} [{', '.join(one.places)}: {one.quote}]"
            for one in self.criteria
        )
        return {
            "paper": self.paper_text,
            "goal": self.goal or "All experiments and baselines of the paper.",
            "review": self.review or "none",
            "exemplars": self.exemplars or "none",
            "criteria": "\n".join(criteria) or "none",
            "addendum": self.addendum or "none",
            "machine": self.machine or "Nothing is known of the machine.",
            "data": self.data or "The user gave no folder of data.",
        }


@dataclass(frozen=True, slots=True)
class State:
    """What the two roles share: summary, decisions, open questions. A new one replaces it."""

    summary: str = ""
    decisions: tuple[str, ...] = ()
    """What was decided where the paper is silent."""
    questions: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()
    """What executions showed: not an opinion, and never replaced by one."""
    assumed: tuple[str, ...] = ()
    """What the code role took for granted: kept for the report, whatever research thinks of it later."""
    slow: tuple[str, ...] = ()
    """What took too long on the way here, for the report: a design that is fast enough needs no excuse."""

    def adding(self, observed: Lines = (), assumed: Lines = (), slow: Lines = ()) -> State:
        """With what an execution showed, the code takes for granted, or took too long: each once."""
        more = (*self.observed, *observed), (*self.assumed, *assumed), (*self.slow, *slow)
        seen, taken, late = (tuple(filter(None, dict.fromkeys(one))) for one in more)
        return replace(self, observed=seen, assumed=taken, slow=late)

    def text(self) -> str:
        """The state as a model sees it."""
        parts = {
            "Decided where the paper is silent": self.decisions,
            "Still open": self.questions,
            "Assumed by the code": self.assumed,
            "Observed by running": self.observed,
        }
        listed = {head: "\n".join(f"- {line}" for line in lines) for head, lines in parts.items()}
        shown = {"Summary": self.summary, **listed}
        return "\n\n".join(f"{head}:\n{body}" for head, body in shown.items() if body) or "nothing yet"


@dataclass(frozen=True)
class Version:
    """One version of the code. Frozen: the next version is another one."""

    stage: Stage = Stage.DATA
    project: Project = field(default_factory=Project)
    state: State = field(default_factory=State)
    found: Checked = field(default_factory=lambda: Checked(()))
    """What the checks found of it."""
    tries: int = 0
    """Attempts to fix it."""
    judged: tuple[Judged, ...] = ()
    """What was found of each criterion in it; empty when it was not verified."""

    @property
    def runs(self) -> bool:
        return not self.found.problems

    def criteria(self, value: Value) -> tuple[str, ...]:
        """Ids of the criteria of which this was found."""
        return tuple(one.criterion for one in self.judged if one.value is value)

    def at(self, stage: Stage) -> Version:
        """The same version at the next stage."""
        return replace(self, stage=stage, tries=0, judged=())

    def slow(self, time: str) -> Version:
        """The same version, with what took too long."""
        return replace(self, state=self.state.adding(slow=[time]))
