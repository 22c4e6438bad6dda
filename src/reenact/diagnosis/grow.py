"""From single changes to the set that does best: joint changes, cut down to what is needed."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.diagnosis.attempts import Attempts, material
from reenact.diagnosis.candidates import Candidate, Screened, applies, whole
from reenact.trials.ddmin import minimise
from reenact.types import Progress, Tell

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


def grow(
    base: float, screened: list[Screened], helpful: list[Screened], attempts: Attempts, tell: Tell
) -> Grown:
    """Begin with the best single change, the first of the `helpful`; see what others add to it."""
    bounded = attempts.bounded
    best: tuple[Candidate, ...] = ()
    reached = base
    if helpful:
        best, reached = (helpful[0].candidate,), helpful[0].score
    rest = _promising(screened, best)
    joint = _joint(best, rest, attempts)
    options = [(*best, one) for one in rest[:ADDED]] if best else []
    options = [option for option in options if applies(option, attempts)]
    if len(joint) > len(best) + 1 or (not best and len(joint) > 1):
        options.append(joint)
    reserve = 2 * attempts.spending.seeds
    options = [one for one in options if attempts.affords(reserve + attempts.screening_cost(whole(one)))]
    if not options:
        return Grown(best)
    tell(Progress("diagnose", 4, 5, f"{len(options)} joint changes"))
    scores = attempts.scores([whole(option) for option in options])
    number = max(range(len(options)), key=lambda at: scores[at])
    chosen = best
    if material(reached, scores[number], bounded=bounded):
        chosen = _cut(base, scores[number], options[number], attempts)
    return Grown(chosen, _adds(chosen, screened, attempts) if chosen else ())


def _adds(
    chosen: tuple[Candidate, ...], screened: list[Screened], attempts: Attempts
) -> tuple[Candidate, ...]:
    """What still helps when the chosen changes are made: a fault may hide behind another."""
    more = [one for one in _promising(screened, chosen)[:ADDED] if applies((*chosen, one), attempts)]
    cost = sum(attempts.screening_cost(whole((*chosen, one))) for one in more)
    if not more or not attempts.affords(2 * attempts.spending.seeds + cost):
        return ()
    reached, *scores = attempts.scores([whole(chosen), *(whole((*chosen, one)) for one in more)])
    return tuple(
        one
        for one, score in zip(more, scores, strict=True)
        if material(reached, score, bounded=attempts.bounded)
    )


def _promising(screened: list[Screened], best: tuple[Candidate, ...]) -> list[Candidate]:
    """Others worth adding: strong ones, by confidence, one a suspect."""
    taken = {id(one.suspect) for one in best}
    found: dict[int, Candidate] = {}
    for one in sorted(screened, key=lambda item: (-item.candidate.suspect.confidence, -item.score)):
        suspect = one.candidate.suspect
        if id(suspect) not in taken and suspect.confidence >= STRONG:
            found.setdefault(id(suspect), one.candidate)
    return list(found.values())


def _joint(best: tuple[Candidate, ...], rest: list[Candidate], attempts: Attempts) -> tuple[Candidate, ...]:
    """As many changes at once as fit together."""
    found = best
    for one in rest:
        if applies((*found, one), attempts):
            found = (*found, one)
    return found


def _cut(
    base: float, reached: float, joint: tuple[Candidate, ...], attempts: Attempts
) -> tuple[Candidate, ...]:
    """Delta debugging: leave out what the gain does not need."""

    def suffices(part: tuple[Candidate, ...]) -> bool:
        cost = 2 * attempts.spending.seeds + attempts.screening_cost(whole(part))
        if not part or not attempts.affords(cost):
            return False
        score = attempts.scores([whole(part)])[0]
        floor = base if base > float("-inf") else min(score, reached) - 1
        return score - floor >= KEPT_GAIN * (reached - floor)

    return minimise(joint, suffices)
