"""Candidates: one change of one suspect; which are worth a training, and how they combine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.diagnosis.attempts import Attempts
from reenact.diagnosis.suspect import Suspect
from reenact.errors import PatchRefused
from reenact.program.patch import Patch
from reenact.rules.finding import Suggestion

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


def candidates_of(suspects: Sequence[Suspect], attempts: Attempts) -> list[Candidate]:
    """The best change of each suspect worth it, then further values of the strongest, within the budget."""
    likely = [one for one in suspects if one.confidence >= WORTH_TRYING and one.suggestions]
    found: list[Candidate] = []
    planned = float(attempts.spending.screening_seeds + 2 * attempts.spending.seeds)
    for rank in range(3):
        for suspect in likely if rank == 0 or attempts.spending.screening_seeds > 1 else likely[: 3 - rank]:
            usable = [one for one in suspect.suggestions if attempts.applies(one.patch)]
            if len(usable) <= rank or len(found) >= attempts.spending.screened:
                continue
            cost = attempts.screening_cost(usable[rank].patch)
            if attempts.affords(planned + cost) or not found:
                planned += cost
                found.append(Candidate(suspect, usable[rank]))
    return found


def ranked(helpful: Sequence[Screened], base: float, attempts: Attempts) -> list[Screened]:
    """The best change of each suspect that helped. Those that reach most of the gain come first, the likely
    and cheap ones before the others: four times the epochs help nearly every training."""
    best: dict[int, Screened] = {}
    for one in sorted(helpful, key=lambda item: -item.score):
        best.setdefault(id(one.candidate.suspect), one)
    if not best:
        return []
    top = max(one.score for one in best.values())
    floor = top - MOST_OF_GAIN * (top - base) if base > float("-inf") else float("-inf")

    def order(one: Screened) -> tuple[bool, float]:
        cost = max(1.0, attempts.cost(one.candidate.patch))
        good = one.score >= floor
        return (not good, -one.candidate.suspect.confidence / cost if good else -one.score)

    return sorted(best.values(), key=order)


def whole(candidates: Sequence[Candidate]) -> Patch:
    patch = Patch(())
    for candidate in candidates:
        patch = patch + candidate.patch
    return patch


def applies(candidates: Sequence[Candidate], attempts: Attempts) -> bool:
    try:
        return attempts.applies(whole(candidates))
    except PatchRefused:
        return False


def words(option: Sequence[Candidate]) -> str:
    return ", ".join(str(change) for one in option for change in one.patch.changes)
