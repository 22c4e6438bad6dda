"""Candidates: one change of one suspect; which are worth a training, and how they combine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.diagnose.attempts import Attempts
from reenact.diagnose.suspect import Suspect
from reenact.errors import PatchRefused
from reenact.program.patch import Patch
from reenact.rules.finding import Suggestion

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
