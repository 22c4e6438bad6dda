"""The time that experiments may take: wall time as it would be if this process had a core for itself.

Processor time misleads where several threads share the work, or one waits for a device; wall time
where other programs take the cores. So the experiments run in one thread, how much others stretch a
short piece of its work is measured, and wall time counts for so much less; never for more than the
processor time, which gives it exactly where nothing is waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time, thread_time

SPIN = 0.01
"""Seconds of processor time of one measurement."""
MOST = 20.0
"""A machine busier than this is taken for stuck."""


class Clock:
    """Seconds of undisturbed time since it was made."""

    def __init__(
        self,
        wall: Callable[[], float] = perf_counter,
        worked: Callable[[], float] = process_time,
    ) -> None:
        self.contention = 1.0
        self._wall = wall
        self._worked = worked
        self._then = wall(), worked()
        self._passed = 0.0

    def now(self) -> float:
        """Undisturbed seconds so far, as far as it was measured."""
        now = self._wall(), self._worked()
        wall, worked = (later - before for later, before in zip(now, self._then))
        self._passed += min(wall / self.contention, worked)
        self._then = now
        return self._passed

    def measure(self) -> None:
        """Measure how busy the machine is; what passed until now counts by the former measure."""
        self.now()
        self.contention = contention()
        self._then = self._wall(), self._worked()


def contention() -> float:
    """How many times as long a stretch of work takes because of other programs; at least 1."""
    began, worked = perf_counter(), thread_time()
    while thread_time() - worked < SPIN:
        pass
    return max(1.0, min(MOST, (perf_counter() - began) / SPIN))


CLOCK = Clock()
"""Of the experiments of this process."""
