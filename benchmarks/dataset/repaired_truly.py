"""Whether what is called repaired is repaired: beside the author's fix, or the sound twin, over the same
fresh seeds.

A repair is true where it brings at least half of what the author's fix changes of the metric, in the same
direction: the fix of a leak makes the number worse, and so must its repair. Where the author's fix changes
the metric by nothing that matters, the repair must not either. What has no fix to be compared with is not
judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from statistics import median

from benchmarks.dataset.result import TrainingRepair
from reenact.trials.trainer import material

HALF = 0.5
SAME = 1e-9
"""Of two numbers that are one but for rounding."""
CLAIMED = ("repaired", "improved", "fixed")
"""Decisions that call a program repaired."""
FAULT_REMAINS = "better-fault-remains"


class Came(StrEnum):
    """What a repair came to."""

    TRULY = "truly repaired"
    FALSELY = 'falsely "repaired"'
    REMAINS = "better, fault remains"
    NOTHING = "nothing"
    UNJUDGED = "called repaired, no fix to compare with"


def came_to(result: TrainingRepair) -> Came:
    """One of the five."""
    if result.decision == FAULT_REMAINS:
        return Came.REMAINS
    if result.decision not in CLAIMED:
        return Came.NOTHING
    true = is_true(result.before, result.after, result.author)
    if true is None:
        return Came.UNJUDGED
    return Came.TRULY if true else Came.FALSELY


def is_true(
    before: Sequence[float | None],
    after: Sequence[float | None],
    author: Sequence[float | None],
) -> bool | None:
    """By middle values, larger is better; none where nothing can be compared."""
    start, reached, fixed = _middle(before), _middle(after), _middle(author)
    if fixed is None or reached is None:
        return None
    if start is None:
        # It failed before: what counts is how near it comes to the author's fix.
        return not _matters(reached, fixed)
    wanted = fixed - start
    if not _matters(start, fixed):
        return not _matters(start, reached) or reached > start
    return (reached - start) / wanted >= HALF - SAME


def _matters(one: float, other: float) -> bool:
    """Whether the larger of both is larger by enough to matter."""
    low, high = sorted((one, other))
    return material(low, high, bounded=0 <= low <= 1 and 0 <= high <= 1)


def _middle(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if len(known) * 2 > len(values) else None
