"""Intervention: change the suspects, train, keep what helps, then judge it on seeds that chose nothing.

Suspects are changed one by one, then what is still promising on top of the best, then all strong ones
jointly. A joint change is cut down to what is needed. What remains is trained over fresh seeds against the
program as it stands; only a significant improvement confirms it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.diagnose.attempts import Attempts, material
from reenact.diagnose.diagnosis import Accusation, Standing, Tried
from reenact.diagnose.suspect import Suspect
from reenact.errors import PatchRefused
from reenact.program.patch import Patch
from reenact.rules.finding import Suggestion
from reenact.trials.ddmin import minimise
from reenact.trials.statistics import compare, holm
from reenact.types import Progress, Tell

SCREENING_SEED = 11
FRESH_SEEDS = tuple(range(101, 141))
STRONG = 0.5
"""Suspects at least this likely are changed jointly when no single change helps."""
WORTH_TRYING = 0.1
"""Below this a suspect is not worth a training."""
VERIFIED_AT_MOST = 2
KEPT_GAIN = 0.8
"""A part of a joint change suffices when it keeps so much of the gain on the screening seed."""


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


def intervene(
    suspects: Sequence[Suspect], attempts: Attempts, *, threshold: float, tell: Tell
) -> tuple[list[Accusation], list[str]]:
    """Every suspect with what trying it has shown, and remarks on what could not be tried."""
    bounded = attempts.bounded
    candidates = _candidates(suspects, attempts)
    if not candidates:
        return [Accusation(one, Standing.UNTRIED, one.confidence) for one in suspects], []
    tell(Progress("diagnose", 3, 5, f"change {len(candidates)} suspects, one by one"))
    patches = [Patch(()), *(candidate.patch for candidate in candidates)]
    base, *scores = attempts.scores(patches, SCREENING_SEED)
    screened = [Screened(one, score) for one, score in zip(candidates, scores, strict=True)]
    helpful = [one for one in screened if material(base, one.score, bounded=bounded)]
    chosen = _grow(base, screened, helpful, attempts, tell)
    tried, remarks = _verify(chosen, helpful, attempts, tell)
    return _judge(suspects, screened, helpful, tried, threshold), remarks


def _candidates(suspects: Sequence[Suspect], attempts: Attempts) -> list[Candidate]:
    """The best change of each suspect worth it, then further values of the strongest, within the budget."""
    likely = [one for one in suspects if one.confidence >= WORTH_TRYING and one.suggestions]
    found: list[Candidate] = []
    planned = 1.0 + 2 * attempts.spending.seeds
    for rank in range(3):
        for suspect in likely if rank == 0 else likely[: 3 - rank]:
            usable = [one for one in suspect.suggestions if attempts.applies(one.patch)]
            if len(usable) <= rank or len(found) >= attempts.spending.screened:
                continue
            cost = attempts.cost(usable[rank].patch)
            if attempts.affords(planned + cost) or not found:
                planned += cost
                found.append(Candidate(suspect, usable[rank]))
    return found


def _grow(
    base: float, screened: list[Screened], helpful: list[Screened], attempts: Attempts, tell: Tell
) -> tuple[Candidate, ...]:
    """The set of changes that does best on the screening seed and holds nothing it can do without."""
    bounded = attempts.bounded
    best: tuple[Candidate, ...] = ()
    reached = base
    if helpful:
        first = max(helpful, key=lambda one: (round(one.score, 3), one.candidate.suspect.confidence))
        best, reached = (first.candidate,), first.score
    rest = _promising(screened, best)
    joint = _joint(best, rest, attempts)
    options = [(*best, one) for one in rest[:3]] if best else []
    options = [option for option in options if _applies(option, attempts)]
    if len(joint) > len(best) + 1 or (not best and len(joint) > 1):
        options.append(joint)
    reserve = 2 * attempts.spending.seeds
    options = [one for one in options if attempts.affords(reserve + attempts.cost(_sum(one)))]
    if not options:
        return best
    tell(Progress("diagnose", 4, 5, f"{len(options)} joint changes"))
    scores = attempts.scores([_sum(option) for option in options], SCREENING_SEED)
    number = max(range(len(options)), key=lambda at: scores[at])
    if not material(reached, scores[number], bounded=bounded):
        return best
    return _cut(base, scores[number], options[number], attempts)


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
        if _applies((*found, one), attempts):
            found = (*found, one)
    return found


def _cut(
    base: float, reached: float, joint: tuple[Candidate, ...], attempts: Attempts
) -> tuple[Candidate, ...]:
    """Delta debugging: leave out what the gain does not need."""

    def suffices(part: tuple[Candidate, ...]) -> bool:
        if not part or not attempts.affords(2 * attempts.spending.seeds + attempts.cost(_sum(part))):
            return False
        score = attempts.scores([_sum(part)], SCREENING_SEED)[0]
        floor = base if base > float("-inf") else min(score, reached) - 1
        return score - floor >= KEPT_GAIN * (reached - floor)

    return minimise(joint, suffices)


def _verify(
    chosen: tuple[Candidate, ...],
    helpful: list[Screened],
    attempts: Attempts,
    tell: Tell,
) -> tuple[list[tuple[tuple[Candidate, ...], Tried]], list[str]]:
    """Judge the chosen change on fresh seeds; the next best single one when it does not hold."""
    queue = [chosen] if chosen else []
    singles = sorted(helpful, key=lambda one: -one.score)
    queue += [(one.candidate,) for one in singles if (one.candidate,) != chosen]
    seeds = FRESH_SEEDS[: attempts.spending.seeds]
    found: list[tuple[tuple[Candidate, ...], Tried]] = []
    for option in queue[:VERIFIED_AT_MOST]:
        patch = _sum(option)
        if found and not attempts.affords(attempts.cost(patch) * len(seeds)):
            break
        tell(Progress("diagnose", 5, 5, f"verify over {len(seeds)} fresh seeds: {_words(option)}"))
        used = attempts.cpu_seconds
        before, after = attempts.samples([Patch(()), patch], seeds)
        comparison = compare(before, after)
        tried = Tried(
            patch, attempts.measure, before, after, comparison, comparison.p_value, False,
            attempts.cpu_seconds - used,
        )  # fmt: skip
        found.append((option, tried))
        if comparison.significant() and material(_mean(before), _mean(after), bounded=attempts.bounded):
            break
    return _corrected(found, attempts), []


def _corrected(
    found: list[tuple[tuple[Candidate, ...], Tried]], attempts: Attempts
) -> list[tuple[tuple[Candidate, ...], Tried]]:
    from dataclasses import replace

    values = holm([tried.comparison.p_value for _, tried in found]) if found else ()
    done = []
    for (option, tried), p_value in zip(found, values, strict=True):
        large = material(_mean(tried.before), _mean(tried.after), bounded=attempts.bounded)
        done.append((option, replace(tried, p_value=p_value, confirmed=p_value < 0.05 and large)))
    return done


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
            note = "changing this instead helped too, on one seed" if confirmed else "helped on one seed"
            sure = min(suspect.confidence, threshold - 0.01) if confirmed else suspect.confidence
            found.append(Accusation(suspect, Standing.HELPED, sure, note=note))
        elif key in looked:
            sure = suspect.confidence * 0.4
            note = "changing it did not help"
            found.append(Accusation(suspect, Standing.REFUTED, sure, failed.get(key), note))
        else:
            found.append(Accusation(suspect, Standing.UNTRIED, suspect.confidence))
    return found


def _sum(candidates: Sequence[Candidate]) -> Patch:
    whole = Patch(())
    for candidate in candidates:
        whole = whole + candidate.patch
    return whole


def _applies(candidates: Sequence[Candidate], attempts: Attempts) -> bool:
    try:
        return attempts.applies(_sum(candidates))
    except PatchRefused:
        return False


def _words(option: Sequence[Candidate]) -> str:
    return ", ".join(str(change) for one in option for change in one.patch.changes)


def _mean(values: Sequence[float]) -> float:
    """The median: one failed training must not decide."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
