"""What was measured of one benchmark program: pairs of trainings, and what their traces hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median

from benchmarks.watching.promises import Promises
from benchmarks.watching.runs import Case, Training

BOUNDS = {"quick": 1.05, "normal": 1.15}
"""The most a preset may cost, as a ratio."""
WAITED = 1.15
"""Wall time over CPU time from which on an unobserved training, which has one thread and reads
nothing, has shared its core with somebody.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two trainings of one program, one after the other."""

    alone: Training
    beside: Training

    @property
    def ratio(self) -> float:
        return self.beside.seconds / self.alone.seconds

    @property
    def cpu_ratio(self) -> float:
        return self.beside.cpu_seconds / self.alone.cpu_seconds

    @property
    def disturbed(self) -> bool:
        """Whether the unobserved training had to wait. What the probe itself waits for does not
        count.
        """
        return self.alone.seconds > WAITED * self.alone.cpu_seconds


@dataclass(slots=True)
class Measured:
    """What was measured of one program."""

    case: Case
    pairs: dict[str, list[Pair]] = field(default_factory=lambda: {preset: [] for preset in BOUNDS})
    """By preset."""
    promises: dict[str, list[Promises]] = field(
        default_factory=lambda: {preset: [] for preset in BOUNDS}
    )
    naive: list[Pair] = field(default_factory=list)

    def ratio(self, preset: str) -> float:
        return median(pair.ratio for pair in self.pairs[preset])

    def cpu_ratio(self, preset: str) -> float:
        return median(pair.cpu_ratio for pair in self.pairs[preset])

    @property
    def disturbed(self) -> bool:
        """Whether most pairs were trained on a machine with other work: wall time then says
        little.
        """
        pairs = [pair for listed in self.pairs.values() for pair in listed]
        return sum(pair.disturbed for pair in pairs) > len(pairs) / 2

    def cost(self, preset: str) -> float:
        """The ratio that is judged: of wall time, or of CPU time on a machine with other work."""
        return self.cpu_ratio(preset) if self.disturbed else self.ratio(preset)

    @property
    def alone(self) -> float:
        """Seconds of the unobserved training."""
        return median(pair.alone.seconds for pairs in self.pairs.values() for pair in pairs)

    @property
    def naive_ratio(self) -> float | None:
        return median(pair.ratio for pair in self.naive) if self.naive else None

    @property
    def broken(self) -> tuple[str, ...]:
        """Promises that a trace broke, and trainings that were not the same."""
        found = [
            f"{self.case.name}, {preset}: {sentence}"
            for preset, runs in self.promises.items()
            for promises in runs
            for sentence in promises.broken
        ]
        if len({promises.steps for runs in self.promises.values() for promises in runs}) > 1:
            found.append(f"{self.case.name}: not every trace holds every step")
        changed = any(
            pair.alone.printed != pair.beside.printed
            for pairs in self.pairs.values()
            for pair in pairs
        )
        if changed:
            found.append(f"{self.case.name}: the watched training printed other numbers")
        return tuple(dict.fromkeys(found))
