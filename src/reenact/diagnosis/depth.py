"""How deep to look, and what that may cost."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

from reenact.trials.budget import TrainingBudget, diagnose_budget


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


PLANS = {Depth.NORMAL: InterventionPlan(7, 6), Depth.DEEP: InterventionPlan(16, 10)}
BUDGETS = {Depth.NORMAL: TrainingBudget(30, exact=False), Depth.DEEP: TrainingBudget(90, exact=False)}


def budget_for(depth: Depth, text: str) -> TrainingBudget:
    """What interventions may cost: what the user wrote, else what is usual for the depth."""
    return diagnose_budget(text) if text else BUDGETS[depth]
