"""What the user of a diagnosis may ask for: how deep to look, what that may cost, which faults."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from reenact.faults.confidence import Word
from reenact.trials.budget import TrainingBudget, diagnose_budget
from reenact.trials.choose import check_name

PACE = ("workers", "training_time", "executor", "data")
"""Options that say how trainings are done, and change no answer."""
THRESHOLD = Word.LIKELY.least
"""What a user sees as a finding who does not say otherwise."""

EXPERIMENTS = 0.03
"""Share of the training's own time that each small experiment may take."""


class Depth(StrEnum):
    """How deep to look."""

    STATIC = "static"
    """Read only; nothing runs."""
    QUICK = "quick"
    """One watched run and the small experiments."""
    NORMAL = "normal"
    """The strongest suspects are changed and trained, within a budget."""
    DEEP = "deep"
    """More suspects, more seeds, a larger budget."""

    @property
    def runs(self) -> bool:
        return self is not Depth.STATIC

    @property
    def intervenes(self) -> bool:
        return self in (Depth.NORMAL, Depth.DEEP)


@dataclass(frozen=True, slots=True)
class InterventionPlan:
    """How many suspects are changed, and over how many seeds each change is trained."""

    screened: int
    """Most suspects that are changed one by one."""
    seeds: int
    """Seeds that judge the final change; none of them was used to choose it."""
    screening_seeds: int = 1
    """Seeds that choose; their middle value counts."""

    def for_short_trainings(self) -> InterventionPlan:
        """More suspects, and three seeds that choose instead of one."""
        return replace(self, screened=2 * self.screened, screening_seeds=3)


PLANS = {
    Depth.NORMAL: InterventionPlan(7, 6),
    Depth.DEEP: InterventionPlan(16, 10),
}
BUDGETS = {
    Depth.NORMAL: TrainingBudget(30, exact=False),
    Depth.DEEP: TrainingBudget(90, exact=False),
}


def budget_for(depth: Depth, text: str) -> TrainingBudget:
    """What interventions may cost: what the user wrote, else what is usual for the depth."""
    return diagnose_budget(text) if text else BUDGETS[depth]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions:
    """What the user of a diagnosis or a repair may ask for; every option has a default."""

    select: tuple[str, ...] = ()
    """Rules to use: codes, prefixes, names, families; empty: all stable ones."""
    ignore: tuple[str, ...] = ()
    """Rules to leave out."""
    budget: str = ""
    """`20x`: that many times the CPU time of one training; `90s`, `5m`: wall time; `40t`:
    trainings; empty: the usual one, and more where a training takes less than 1.5 s.
    """
    metric: str = ""
    """The metric that judges a change; empty: chosen from what the program reports."""
    python: str = ""
    """Interpreter; empty: the one that runs reenact."""
    workers: int = 0
    """Trainings at once; 0: one per core."""
    executor: str = "process"
    """Where changed programs are trained: `process`, `ray`, or the address of a Ray cluster."""
    data: tuple[str, ...] = ()
    """Paths that every node of a cluster has: they are not sent to it."""
    samples: int = 2
    """How often a model is asked, when there is one."""
    stand_in_data: bool = False
    """Train on made-up data where a well-known data set cannot be had."""
    training_time: float | None = None
    """Seconds that one training may take."""
    experiments: float = EXPERIMENTS
    """Share of the training's own time that each small experiment may take: never less than a
    second of CPU time or so, never more than twenty.
    """
    prune: bool = False
    """End trainings that choose among changes when they are hopeless compared with the program as it
    is.
    """

    def __post_init__(self) -> None:
        check_name(self.executor)

    def to_json(self) -> dict[str, object]:
        """What a journal compares to tell one run from another: not how fast it is done."""
        return {name: value for name, value in asdict(self).items() if name not in PACE}


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnoseOptions(TrainingOptions):
    """What a diagnosis may be asked for besides."""

    depth: Depth = Depth.QUICK
    threshold: float = THRESHOLD
    """Confidence from which on a suspect is a finding."""
    learned: bool = False
    """Ask the learned detector too."""
    suspect: str = ""
    """What the user believes is wrong; a model looks at it."""
