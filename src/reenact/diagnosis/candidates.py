"""Candidates: one change of one suspect; which are worth a training, and how they combine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.diagnosis.depth import InterventionPlan
from reenact.diagnosis.suspects import Suspect, SuspectKey
from reenact.errors import PatchRefused
from reenact.program.patch import Patch
from reenact.rules.finding import Suggestion
from reenact.trials.trainer import BudgetedTrainer
from reenact.types import Tell

MOST_OF_GAIN = 0.2
"""Changes that miss the best gain by at most this share are as good as the best."""
WORTH_TRYING = 0.1
"""Below this a suspect is not worth a training."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change of one suspect."""

    suspect: Suspect
    suggestion: Suggestion

    @property
    def patch(self) -> Patch:
        return self.suggestion.patch


@dataclass(frozen=True, slots=True)
class Screened:
    """A candidate and its measure on the screening seed."""

    candidate: Candidate
    score: float


@dataclass(frozen=True)
class Screening:
    """What interventions work with."""

    trainer: BudgetedTrainer
    plan: InterventionPlan
    tell: Tell

    def scores(self, patches: Sequence[Patch], looks: int = 1) -> list[float]:
        """The measure of each changed program on the screening seeds; a second look takes twice as many."""
        return self.trainer.scores(patches, looks * self.plan.screening_seeds)

    def cost(self, patch: Patch) -> float:
        """What one look at a changed program takes from the budget."""
        return self.trainer.cost(patch, self.plan.screening_seeds)

    def leaves_enough(self, cost: float) -> bool:
        """Whether the budget covers this, and the final change over its seeds after it."""
        return self.trainer.within_budget(2 * self.plan.seeds + cost)

    def applies(self, candidates: Sequence[Candidate]) -> bool:
        """Whether these changes can be made together, and judged."""
        try:
            return self.trainer.applies(whole(candidates))
        except PatchRefused:
            return False


def candidates_of(suspects: Sequence[Suspect], screening: Screening) -> list[Candidate]:
    """The best change of each suspect worth it, then further values of the strongest, within the budget."""
    trainer, plan = screening.trainer, screening.plan
    likely = [one for one in suspects if one.confidence >= WORTH_TRYING and one.suggestions]
    found: list[Candidate] = []
    planned = float(plan.screening_seeds + 2 * plan.seeds)
    for rank in range(3):
        for suspect in likely if rank == 0 or plan.screening_seeds > 1 else likely[: 3 - rank]:
            usable = [one for one in suspect.suggestions if trainer.applies(one.patch)]
            if len(usable) <= rank or len(found) >= plan.screened:
                continue
            cost = screening.cost(usable[rank].patch)
            if trainer.within_budget(planned + cost) or not found:
                planned += cost
                found.append(Candidate(suspect, usable[rank]))
    return found


def ranked(helpful: Sequence[Screened], base: float, trainer: BudgetedTrainer) -> list[Screened]:
    """The best change of each suspect that helped. Those that reach most of the gain come first, the likely
    and cheap ones before the others: four times the epochs help nearly every training."""
    best: dict[SuspectKey, Screened] = {}
    for one in sorted(helpful, key=lambda item: -item.score):
        best.setdefault(one.candidate.suspect.key, one)
    if not best:
        return []
    top = max(one.score for one in best.values())
    floor = top - MOST_OF_GAIN * (top - base) if base > float("-inf") else float("-inf")

    def order(one: Screened) -> tuple[bool, float]:
        cost = max(1.0, trainer.relative_cost(one.candidate.patch))
        good = one.score >= floor
        return (not good, -one.candidate.suspect.confidence / cost if good else -one.score)

    return sorted(best.values(), key=order)


def whole(candidates: Sequence[Candidate]) -> Patch:
    """All their changes together."""
    patch = Patch(())
    for candidate in candidates:
        patch = patch + candidate.patch
    return patch
