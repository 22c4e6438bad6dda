"""Judge a change on fresh seeds, against the program as it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reenact.diagnosis.attempts import Attempts, material
from reenact.diagnosis.candidates import Candidate, Screened, whole, words
from reenact.diagnosis.diagnosis import Tried
from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.trials.statistics import compare, holm
from reenact.types import Progress, Tell

FRESH_SEEDS = tuple(range(101, 141))
VERIFIED_AT_MOST = 2


def verify(
    chosen: tuple[Candidate, ...],
    helpful: list[Screened],
    attempts: Attempts,
    tell: Tell,
) -> tuple[list[tuple[tuple[Candidate, ...], Tried]], list[str]]:
    """Judge the chosen change on fresh seeds; the next best single one when it does not hold."""
    queue = [chosen] if chosen else []
    queue += [(one.candidate,) for one in helpful if (one.candidate,) != chosen]
    seeds = FRESH_SEEDS[: attempts.spending.seeds]
    found: list[tuple[tuple[Candidate, ...], Tried]] = []
    for option in queue[:VERIFIED_AT_MOST]:
        patch = whole(option)
        if found and not attempts.affords(attempts.cost(patch) * len(seeds)):
            break
        tell(Progress("diagnose", 5, 5, f"verify over {len(seeds)} fresh seeds: {words(option)}"))
        used = attempts.cpu_seconds
        try:
            before, after = attempts.samples([Patch(()), patch], seeds)
        except TimeSpent:
            if not found:
                raise
            break
        comparison = compare(before, after)
        tried = Tried(
            patch, attempts.measure, before, after, comparison, comparison.p_value, False,
            attempts.cpu_seconds - used,
        )  # fmt: skip
        found.append((option, tried))
        if comparison.significant() and material(middle(before), middle(after), bounded=attempts.bounded):
            break
    return _corrected(found, attempts), []


def _corrected(
    found: list[tuple[tuple[Candidate, ...], Tried]], attempts: Attempts
) -> list[tuple[tuple[Candidate, ...], Tried]]:
    values = holm([tried.comparison.p_value for _, tried in found]) if found else ()
    done = []
    for (option, tried), p_value in zip(found, values, strict=True):
        large = material(middle(tried.before), middle(tried.after), bounded=attempts.bounded)
        done.append((option, replace(tried, p_value=p_value, confirmed=p_value < 0.05 and large)))
    return done


def middle(values: Sequence[float]) -> float:
    """The median: one failed training must not decide."""
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
