"""From single changes to the set that does best: joint changes, cut down to what is needed."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.diagnosis.candidates import Candidate, Screened, Screening, whole
from reenact.diagnosis.suspects import SuspectKey
from reenact.trials.ddmin import minimise
from reenact.types import Progress

ADDED = 4
"""Changes that are tried on top of the best, each by itself."""
STRONG = 0.5
"""Suspects at least this likely are changed jointly when no single change helps."""
KEPT_GAIN = 0.8
"""A part of a joint change suffices when it keeps so much of the gain on the screening seed."""


@dataclass(frozen=True, slots=True)
class Grown:
    """What came of changing several suspects at once."""

    chosen: tuple[Candidate, ...]
    """The set of changes that does best on the screening seeds and holds nothing it can do without."""
    adds: tuple[Candidate, ...] = ()
    """Changes that are worth something on top of it as well."""


def grow(base: float, screened: list[Screened], helpful: list[Screened], screening: Screening) -> Grown:
    """Begin with the best single change, the first of the `helpful`; see what others add to it."""
    best: tuple[Candidate, ...] = ()
    reached = base
    if helpful:
        best, reached = (helpful[0].candidate,), helpful[0].score
    rest = _promising(screened, best)
    joint = _joint(best, rest, screening)
    options = [(*best, one) for one in rest[:ADDED]] if best else []
    options = [option for option in options if screening.applies(option)]
    if len(joint) > len(best) + 1 or (not best and len(joint) > 1):
        options.append(joint)
    options = [one for one in options if screening.leaves_enough(screening.cost(whole(one)))]
    if not options:
        return Grown(best)
    screening.tell(Progress("diagnose", 4, 5, f"{len(options)} joint changes"))
    scores = screening.scores([whole(option) for option in options])
    number = max(range(len(options)), key=lambda at: scores[at])
    chosen = best
    if screening.trainer.improves(reached, scores[number]):
        chosen = _cut(base, scores[number], options[number], screening)
    return Grown(chosen, _adds(chosen, screened, screening) if chosen else ())


def _adds(
    chosen: tuple[Candidate, ...], screened: list[Screened], screening: Screening
) -> tuple[Candidate, ...]:
    """What still helps when the chosen changes are made: a fault may hide behind another."""
    more = [one for one in _promising(screened, chosen)[:ADDED] if screening.applies((*chosen, one))]
    cost = sum(screening.cost(whole((*chosen, one))) for one in more)
    if not more or not screening.leaves_enough(cost):
        return ()
    reached, *scores = screening.scores([whole(chosen), *(whole((*chosen, one)) for one in more)])
    pairs = zip(more, scores, strict=True)
    return tuple(one for one, score in pairs if screening.trainer.improves(reached, score))


def _promising(screened: list[Screened], best: tuple[Candidate, ...]) -> list[Candidate]:
    """Others worth adding: strong ones, by confidence, one a suspect."""
    taken = {one.suspect.key for one in best}
    found: dict[SuspectKey, Candidate] = {}
    for one in sorted(screened, key=lambda item: (-item.candidate.suspect.confidence, -item.score)):
        suspect = one.candidate.suspect
        if suspect.key not in taken and suspect.confidence >= STRONG:
            found.setdefault(suspect.key, one.candidate)
    return list(found.values())


def _joint(best: tuple[Candidate, ...], rest: list[Candidate], screening: Screening) -> tuple[Candidate, ...]:
    """As many changes at once as fit together."""
    found = best
    for one in rest:
        if screening.applies((*found, one)):
            found = (*found, one)
    return found


def _cut(
    base: float, reached: float, joint: tuple[Candidate, ...], screening: Screening
) -> tuple[Candidate, ...]:
    """Delta debugging: leave out what the gain does not need."""

    def suffices(part: tuple[Candidate, ...]) -> bool:
        if not part or not screening.leaves_enough(screening.cost(whole(part))):
            return False
        score = screening.scores([whole(part)])[0]
        floor = base if base > float("-inf") else min(score, reached) - 1
        return score - floor >= KEPT_GAIN * (reached - floor)

    return minimise(joint, suffices)
