"""Candidates: one change of one suspect; which are worth a training, and how they combine.

From single changes to the set that does best: joint changes, cut down to what is needed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import TypeAlias

from reenact.diagnosis.options import InterventionPlan
from reenact.faults.agreement import firsts
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding
from reenact.faults.observation import Certainty
from reenact.program.patch import Patch
from reenact.trials.ddmin import minimise
from reenact.trials.trainer import BudgetedTrainer
from reenact.types import Progress, Tell

MOST_OF_GAIN = 0.2
"""Changes that miss the best gain by at most this share are as good as the best."""
WORTH_TRYING = 0.1
"""Below this a suspect is not worth a training."""
ADDED = 4
"""Changes that are tried on top of the best, each by itself."""
STRONG = 0.5
"""Suspects at least this likely are changed jointly when no single change helps."""
KEPT_GAIN = 0.8
"""A part of a joint change suffices when it keeps so much of the gain on the screening seed."""
INTERACTING = (
    frozenset((FaultType.CPP, FaultType.HLR, FaultType.WCI, FaultType.LNM)),
    frozenset(
        (
            FaultType.ACH,
            FaultType.ARM,
            FaultType.AAL,
            FaultType.LCH,
            FaultType.LCN,
            FaultType.CPP,
        )
    ),
)
"""Scale of the inputs, learning rate and initialisation; last activation, loss and labels."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One change of one suspect."""

    suspect: Finding
    patch: Patch


Joint: TypeAlias = tuple[Candidate, ...]
"""Changes that are made together."""


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

    def scores(
        self, patches: Sequence[Patch], looks: int = 1, against: float | None = None
    ) -> list[float]:
        """The measure of each changed program on the screening seeds; a second look takes twice as
        many. `against` as in `BudgetedTrainer.scores`.
        """
        return self.trainer.scores(
            patches,
            looks * self.plan.screening_seeds,
            against=against,
        )

    def cost(self, patch: Patch) -> float:
        """What one look at a changed program takes from the budget."""
        return self.trainer.cost(patch, self.plan.screening_seeds)

    def leaves_enough(self, cost: float) -> bool:
        """Whether the budget covers this, and the final change over its seeds after it."""
        return self.trainer.within_budget(2 * self.plan.seeds + cost)

    def applies(self, candidates: Sequence[Candidate]) -> bool:
        """Whether these changes can be made together, and judged."""
        return self.trainer.applies(whole(candidates))


def candidates_of(suspects: Sequence[Finding], screening: Screening) -> list[Candidate]:
    """The best change of each suspect worth it, then further values of the strongest, within
    the budget.
    """
    trainer = screening.trainer
    plan = screening.plan
    likely = [one for one in suspects if one.suspicion >= WORTH_TRYING and one.suggestions]
    found: list[Candidate] = []
    planned = float(plan.screening_seeds + 2 * plan.seeds)
    for rank in range(3):
        for suspect in likely if rank == 0 or plan.screening_seeds > 1 else likely[: 3 - rank]:
            usable = [one.patch for one in suspect.suggestions if trainer.applies(one.patch)]
            if len(usable) <= rank or len(found) >= plan.screened:
                continue
            cost = screening.cost(usable[rank])
            if trainer.within_budget(planned + cost) or not found:
                planned += cost
                found.append(Candidate(suspect, usable[rank]))
    return found


def ranked(
    helpful: Sequence[Screened],
    base: float,
    trainer: BudgetedTrainer,
) -> list[Screened]:
    """The best change of each suspect that helped. Those that reach most of the gain come first,
    the likely and cheap ones before the others: four times the epochs help nearly every training.
    """
    by_score = sorted(helpful, key=lambda item: -item.score)
    best = firsts(by_score, lambda one: one.candidate.suspect.key)
    top = best[0].score if best else base
    floor = top - MOST_OF_GAIN * (top - base) if base > float("-inf") else float("-inf")

    def order(one: Screened) -> tuple[bool, float]:
        cost = max(1.0, trainer.relative_cost(one.candidate.patch))
        good = one.score >= floor
        return (
            not good,
            -one.candidate.suspect.suspicion / cost if good else -one.score,
        )

    return sorted(best, key=order)


def whole(candidates: Sequence[Candidate]) -> Patch:
    """All their changes together."""
    return sum((candidate.patch for candidate in candidates), Patch(()))


def grow(
    base: float, screened: list[Screened], helpful: list[Screened], screening: Screening
) -> tuple[Joint, Joint]:
    """Begin with the best single change, the first of the `helpful`; see what others add to it.

    The set of changes that does best on the screening seeds and holds nothing it can do without,
    and changes that are worth something on top of it as well.
    """
    best = tuple(one.candidate for one in helpful[:1])
    reached = helpful[0].score if helpful else base
    by_score = [
        one.candidate
        for one in sorted(
            screened,
            key=lambda item: -item.score,
        )
    ]
    rest = _promising(by_score, best)
    all_of_them = joint(best, rest, screening.applies)
    options = [(*best, one) for one in rest[:ADDED]] if best else []
    options += [(*best, *part) for part in interacting(rest) if len(part) < len(rest)]
    options = [option for option in options if screening.applies(option)]
    if len(all_of_them) > len(best) + 1 or (not best and len(all_of_them) > 1):
        options.append(all_of_them)
    options = [one for one in options if screening.leaves_enough(screening.cost(whole(one)))]
    if not options:
        return best, ()
    screening.tell(
        Progress(
            "diagnose",
            4,
            5,
            f"{len(options)} joint changes",
        )
    )
    scores = screening.scores([whole(option) for option in options])
    score, option = max(zip(scores, options, strict=True), key=lambda pair: pair[0])
    if screening.trainer.improves(reached, score):
        best = cut(base, score, option, screening)
    return best, what_adds(best, by_score, screening) if best else ()


def what_adds(chosen: Joint, candidates: Sequence[Candidate], screening: Screening) -> Joint:
    """What still helps when the chosen changes are made: a fault may hide behind another."""
    more = [
        one for one in _promising(candidates, chosen)[:ADDED] if screening.applies((*chosen, one))
    ]
    cost = sum(screening.cost(whole((*chosen, one))) for one in more)
    if not more or not screening.leaves_enough(cost):
        return ()
    extended = [whole((*chosen, one)) for one in more]
    reached, *scores = screening.scores([whole(chosen), *extended])
    helps = [screening.trainer.improves(reached, score) for score in scores]
    return tuple(compress(more, helps))


def _promising(candidates: Sequence[Candidate], best: Joint) -> list[Candidate]:
    """Others worth adding: strong ones, by confidence, one a suspect, the first that was given."""
    taken = {one.suspect.key for one in best}
    likely = sorted(
        candidates,
        key=lambda item: -item.suspect.suspicion,
    )
    firm = [one for one in likely if one.suspect.key not in taken and is_firm(one.suspect)]
    return list(firsts(firm, lambda one: one.suspect.key))


def is_firm(suspect: Finding) -> bool:
    """Whether it is proven or strongly suspected."""
    return suspect.suspicion >= STRONG or suspect.certainty is not Certainty.HINT


def interacting(candidates: Sequence[Candidate]) -> list[Joint]:
    """Changes that are known to help only together, where several of them are suspected."""
    groups = [
        tuple(one for one in candidates if one.suspect.fault in faults) for faults in INTERACTING
    ]
    return [group for group in groups if len(group) > 1]


def joint(
    best: Joint,
    rest: Sequence[Candidate],
    applies: Callable[[Joint], bool],
) -> Joint:
    """As many changes at once as fit together, one a suspect."""
    for one in rest:
        if all(one.suspect.key != other.suspect.key for other in best) and applies((*best, one)):
            best = (*best, one)
    return best


def cut(base: float, reached: float, joint: Joint, screening: Screening) -> Joint:
    """Delta debugging: leave out what the gain does not need."""

    def suffices(part: Joint) -> bool:
        if not part or not screening.leaves_enough(screening.cost(whole(part))):
            return False
        score = screening.scores([whole(part)])[0]
        floor = base if base > float("-inf") else min(score, reached) - 1
        return score - floor >= KEPT_GAIN * (reached - floor)

    return minimise(joint, suffices)
