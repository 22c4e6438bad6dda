"""Intervention: change the suspects, train, keep what helps, then judge it on seeds that chose nothing.

Suspects are changed one by one, then what is still promising on top of the best, then all strong ones
jointly. A joint change is cut down to what is needed. What remains is trained over fresh seeds against the
program as it stands; only a significant improvement confirms it.
"""

from __future__ import annotations

from collections.abc import Sequence

from reenact.diagnose.attempts import Attempts, material
from reenact.diagnose.candidates import Candidate, Screened, candidates_of, ranked
from reenact.diagnose.diagnosis import Accusation, Standing, Tried
from reenact.diagnose.grow import grow
from reenact.diagnose.suspect import Suspect
from reenact.diagnose.verify import verify
from reenact.program.patch import Patch
from reenact.types import Progress, Tell

LOOKED_AT_AGAIN = 2
SURE = 0.9
"""A suspect as likely as this stays accused when another change was confirmed and this one helped too."""


def intervene(
    suspects: Sequence[Suspect], attempts: Attempts, *, threshold: float, tell: Tell
) -> tuple[list[Accusation], list[str]]:
    """Every suspect with what trying it has shown, and remarks on what could not be tried."""
    bounded = attempts.bounded
    candidates = candidates_of(suspects, attempts)
    if not candidates:
        return [Accusation(one, Standing.UNTRIED, one.confidence) for one in suspects], []
    tell(Progress("diagnose", 3, 5, f"change {len(candidates)} suspects, one by one"))
    patches = [Patch(()), *(candidate.patch for candidate in candidates)]
    base, *scores = attempts.scores(patches)
    screened = [Screened(one, score) for one, score in zip(candidates, scores, strict=True)]
    helpful = [one for one in screened if material(base, one.score, bounded=bounded)]
    base, helpful = _second_look(base, ranked(helpful, base, attempts), attempts)
    chosen = grow(base, screened, helpful, attempts, tell)
    tried, remarks = verify(chosen, helpful, attempts, tell)
    return _judge(suspects, screened, helpful, tried, threshold), remarks


def _second_look(base: float, helpful: list[Screened], attempts: Attempts) -> tuple[float, list[Screened]]:
    """Luck has chosen among several? Look again at the first few, on more seeds."""
    front = helpful[: LOOKED_AT_AGAIN * attempts.spending.screening_seeds]
    cost = sum(attempts.screening_cost(one.candidate.patch) for one in front) + 1
    if len(front) < 2 or not attempts.affords(cost + 2 * attempts.spending.seeds):
        return base, helpful
    base, *scores = attempts.scores([Patch(()), *(one.candidate.patch for one in front)], looks=2)
    again = [Screened(one.candidate, score) for one, score in zip(front, scores, strict=True)]
    held = [one for one in again if material(base, one.score, bounded=attempts.bounded)]
    return base, ranked(held, base, attempts)


def _judge(
    suspects: Sequence[Suspect],
    screened: list[Screened],
    helpful: list[Screened],
    tried: list[tuple[tuple[Candidate, ...], Tried]],
    threshold: float,
) -> list[Accusation]:
    confirmed = {id(one.suspect): held for option, held in tried if held.confirmed for one in option}
    failed = {id(one.suspect): held for option, held in tried if not held.confirmed for one in option}
    looked = {id(one.candidate.suspect) for one in screened}
    gained = {id(one.candidate.suspect) for one in helpful}
    found = []
    for suspect in suspects:
        key = id(suspect)
        if key in confirmed:
            sure = max(0.9, suspect.confidence)
            found.append(Accusation(suspect, Standing.CONFIRMED, sure, confirmed[key]))
        elif key in gained and key not in failed:
            note = (
                "changing this instead helped too, in a first look" if confirmed else "helped in a first look"
            )
            demoted = confirmed and suspect.confidence < SURE
            sure = min(suspect.confidence, threshold - 0.01) if demoted else suspect.confidence
            found.append(Accusation(suspect, Standing.HELPED, sure, note=note))
        elif key in looked:
            sure = suspect.confidence * 0.4
            note = "changing it did not help"
            found.append(Accusation(suspect, Standing.REFUTED, sure, failed.get(key), note))
        else:
            found.append(Accusation(suspect, Standing.UNTRIED, suspect.confidence))
    return found
