"""Windows of a series: do those that judge lie between, or across, those that train?

A window is known by stretches of three steps: of windows that overlap, the same stretch is at another
place of another window.
"""

from __future__ import annotations

import numpy

from reenact_probe.data import key_array
from reenact_probe.types import Array

STRETCH = 3
FEW_STEPS, MOST_STEPS = 8, 1024
MOST_ROWS, MOST_VALUES = 128, 1 << 18
MOST_STRETCHES = 200_000
"""That are looked up, before no more windows are read."""
FEW_STRETCHES = 500
OVERLAP = 0.5


class Steps:
    """Stretches of the windows that train."""

    def __init__(self) -> None:
        self.places: dict[int, int] = {}
        """Of each stretch: the place in its window at which it was met."""
        self.moved: set[int] = set()
        """Stretches that were met at another place as well."""
        self.left = MOST_STRETCHES

    def add(self, rows: Array) -> None:
        """Windows that train."""
        found = stretches(rows) if self.left > 0 else None
        if found is None:
            return
        keys, varies = found
        self.left -= keys.size
        for window, moves in zip(keys.tolist(), varies.tolist()):
            for place, key in enumerate(window):
                if moves[place] and self.places.setdefault(key, place) != place:
                    self.moved.add(key)

    @property
    def overlap(self) -> bool:
        """Whether the windows that train are windows of one series."""
        known = len(self.places)
        return known >= FEW_STRETCHES and len(self.moved) > OVERLAP * known

    def met(self, middles: set[int]) -> int:
        """How many of these windows that judge have their middle in one that trains."""
        if self.overlap:
            return len(middles & self.places.keys())
        return 0


def middles(rows: Array) -> set[int]:
    """The middle stretch of each window that has one."""
    found = stretches(rows)
    if found is None:
        return set()
    keys, varies = found
    middle = keys.shape[1] // 2
    return set(keys[varies[:, middle], middle].tolist())


def stretches(rows: Array) -> tuple[Array, Array] | None:
    """The keys of the stretches of some windows, and whether each changes from step to step."""
    if rows.dtype.kind != "f" or rows.ndim not in (2, 3) or not len(rows):
        return None
    if not FEW_STEPS <= rows.shape[1] <= MOST_STEPS:
        return None
    fits = min(MOST_ROWS, MOST_VALUES // (STRETCH * rows[0].size))
    if fits < 1:
        return None
    few = rows[:fits].reshape(min(fits, len(rows)), rows.shape[1], -1)
    parts = [few[:, start : few.shape[1] - STRETCH + 1 + start] for start in range(STRETCH)]
    whole = numpy.concatenate(parts, axis=2)
    keys = key_array(whole.reshape(-1, whole.shape[2])).reshape(whole.shape[:2])
    varies = (parts[0] != parts[1]).any(axis=2) & (parts[1] != parts[2]).any(axis=2)
    return keys, varies
