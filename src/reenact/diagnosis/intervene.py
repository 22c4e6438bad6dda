"""Intervention: change the suspects, train, keep what helps, then judge it on seeds that chose nothing.

Suspects are changed one by one, then what is still promising on top of the best, then all strong ones
jointly. A joint change is cut down to what is needed. What remains is trained over fresh seeds against the
program as it stands; only a significant improvement confirms it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from reenact.diagnosis.attempts import Attempts, material
from reenact.diagnosis.candidates import Candidate, Screened, candidates_of, ranked
from reenact.diagnosis.diagnosis import Accusation, Standing, Tried
from reenact.diagnosis.grow import STRONG, Grown, grow
from reenact.diagnosis.sureness import sureness
from reenact.diagnosis.suspect import Suspect
from reenact.diagnosis.verify import middle, verify
from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.rules.finding import Severity
from reenact.types import Progress, Tell

LOOKED_AT_AGAIN = 2
MUCH = 0.25
"""Share of what is left to gain that changing a slight suspect must bring."""
SURE = 0.9
"""A suspect as likely as this stays accused when another change was confirmed and this one helped too."""


def intervene(
    suspects: Sequence[Suspect], attempts: Attempts, *, threshold: float, tell: Tell
) -> tuple[list[Accusation], list[str]]:
    """Every suspect with what trying it has shown, and remarks on what could not be tried."""
    bounded = attempts.bounded
    candidates = candidates_of(suspects, attempts)
    if not candidates:
        return [Accusation(one, Standing.UNTRIED, sureness(one)) for one in suspects], []
    tell(Progress("diagnose", 3, 5, f"change {len(candidates)} suspects, one by one"))
    patches = [Patch(()), *(candidate.patch for candidate in candidates)]
    base, *scores = attempts.scores(patches)
    screened = [Screened(one, score) for one, score in zip(candidates, scores, strict=True)]
    helpful = [one for one in screened if material(base, one.score, bounded=bounded)]
    helpful, grown = ranked(helpful, base, attempts), Grown(())
    tried: list[tuple[tuple[Candidate, ...], Tried]] = []
    remarks: list[str] = []
    try:
        base, helpful = _second_look(base, helpful, attempts)
        grown = grow(base, screened, helpful, attempts, tell)
        tried, remarks = verify(grown.chosen, helpful, attempts, tell)
    except TimeSpent as error:
        remarks = [f"What helped in a first look was not verified. {error.sentence}"]
    judged = _judge(suspects, screened, helpful, grown.adds, tried, threshold)
    well = attempts.does_well(base)
    return [_weighed(one, threshold, well=well, bounded=bounded) for one in judged], remarks


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
    adds: Sequence[Candidate],
    tried: list[tuple[tuple[Candidate, ...], Tried]],
    threshold: float,
) -> list[Accusation]:
    confirmed = {id(one.suspect): held for option, held in tried if held.confirmed for one in option}
    failed = {id(one.suspect): held for option, held in tried if not held.confirmed for one in option}
    looked = {id(one.candidate.suspect) for one in screened}
    gained = {id(one.candidate.suspect) for one in helpful}
    added = {id(one.suspect) for one in adds} if confirmed else set()
    hidden = _hides(suspects, looked, confirmed)
    found = []
    for suspect in suspects:
        key, sure = id(suspect), sureness(suspect)
        if key in confirmed:
            found.append(Accusation(suspect, Standing.CONFIRMED, max(0.9, sure), confirmed[key]))
        elif key in added:
            note = "changing it as well helped more, in a first look"
            found.append(Accusation(suspect, Standing.HELPED, sure, note=note))
        elif key in gained and key not in failed:
            note = (
                "changing this instead helped too, in a first look" if confirmed else "helped in a first look"
            )
            demoted = confirmed and suspect.confidence < SURE
            sure = min(sure, threshold - 0.01) if demoted else sure
            found.append(Accusation(suspect, Standing.HELPED, sure, note=note))
        elif key in looked and hidden:
            note = "changing it alone did not help, but what could not be changed may hide its effect"
            found.append(Accusation(suspect, Standing.UNTRIED, sure, note=note))
        elif key in looked:
            note = "changing it did not help"
            found.append(Accusation(suspect, Standing.REFUTED, 0.4 * sure, failed.get(key), note))
        else:
            found.append(Accusation(suspect, Standing.UNTRIED, sure))
    return found


def _weighed(one: Accusation, threshold: float, *, well: bool, bounded: bool) -> Accusation:
    """Nearly every training can be made a little better. What was only slightly suspected is at fault when
    changing it helps much, and the training does not do well as it is; else it is tuning."""
    held = one.tried
    if one.standing is not Standing.CONFIRMED or one.suspect.confidence >= STRONG or held is None:
        return one
    much = material(middle(held.before), middle(held.after), bounded=bounded, share=MUCH)
    if much and not well:
        return one
    why = "the training does well as it is" if well else "not much, and little else speaks against it"
    note = f"changing it helps, but {why}"
    return replace(one, confidence=min(one.confidence, threshold - 0.01), note=note)


def _hides(suspects: Sequence[Suspect], looked: set[int], confirmed: Mapping[int, Tried]) -> bool:
    """Whether something as good as proven could not be changed: nothing else can help beside labels that are
    wrong, and that it did not help then says little against it."""
    return not confirmed and any(
        one.confidence >= SURE and one.first.severity is Severity.ERROR and id(one) not in looked
        for one in suspects
    )
