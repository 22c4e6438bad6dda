"""Answers of one detector to all programs of the benchmark, scored into one table.

Answers to the buggy programs give recall, precision and F3, averaged over repeats; answers to the fixed twins
give false alarms. A fault that was not run stands in the table as missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, pstdev
from typing import Literal, TypeAlias

from benchmarks.faults.case import FaultCase, Side
from benchmarks.faults.scores import Answer, Score, Truth, judge, mean_score

Column: TypeAlias = Literal["before", "after", "own"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a detector reported of one program, once a repeat."""

    case: str
    side: Side
    answers: tuple[Answer, ...]
    seconds: float
    """Mean time of one repeat."""


@dataclass(frozen=True, slots=True)
class FaultLine:
    """One fault of the table."""

    case: FaultCase
    before: Score
    """Against the known ground truth."""
    after: Score
    """Against the best of the known and the published alternative ground truths."""
    own: Score | None
    """The same with the alternatives that our own neutrality analysis found; none when it was
    not asked.
    """
    f3_sigma: float
    """Standard deviation of F3 (after) over the repeats; 0 for a single one."""
    seconds: float
    false_alarm: float | None
    """Share of repeats in which the fixed twin was reported of anything; none when the twin was
    not run.
    """


@dataclass(frozen=True, slots=True)
class FaultTable:
    """All faults that were run, and their means."""

    lines: tuple[FaultLine, ...]
    missing: tuple[FaultCase, ...]
    """Faults asked for that have no reading."""

    def mean(self, column: Column = "after", *, origin: str = "") -> Score:
        """Mean of one column; of `artificial` or `real` faults only where asked."""
        chosen = [line for line in self.lines if origin in ("", line.case.origin)]
        scores: list[Score | None] = [getattr(line, column) for line in chosen]
        return mean_score(one for one in scores if one is not None)

    @property
    def false_alarm_rate(self) -> float | None:
        """Mean share of fixed twins reported; none when no twin was run."""
        rates = [line.false_alarm for line in self.lines if line.false_alarm is not None]
        return fmean(rates) if rates else None

    @property
    def seconds(self) -> float:
        """Mean time a fault."""
        return fmean(line.seconds for line in self.lines)

    @property
    def f3_sigma(self) -> float:
        """Mean standard deviation of F3 over the repeats (the study's stability)."""
        return fmean(line.f3_sigma for line in self.lines)


def tabulate(
    readings: Iterable[Reading],
    cases: Sequence[FaultCase],
    *,
    layers: bool = True,
    own: Mapping[str, Sequence[Truth]] | None = None,
) -> FaultTable:
    """Score the readings of one detector; `layers` is false for a detector that names none."""
    by_program = {(reading.case, reading.side): reading for reading in readings if reading.answers}
    lines, missing = [], []
    for case in cases:
        reading = by_program.get((case.id, Side.BUGGY))
        if reading is None:
            missing.append(case)
            continue
        found = own.get(case.id, ()) if own is not None else None
        lines.append(_line(case, reading, by_program.get((case.id, Side.FIXED)), found, layers))
    return FaultTable(tuple(lines), tuple(missing))


def _line(
    case: FaultCase,
    reading: Reading,
    twin: Reading | None,
    own: Sequence[Truth] | None,
    layers: bool,
) -> FaultLine:
    judged = [
        judge(answer, case.truth, case.alternatives, layers=layers) for answer in reading.answers
    ]
    owned = None
    if own is not None:
        every = (*case.alternatives, *own)
        owned = mean_score(
            judge(answer, case.truth, every, layers=layers).after for answer in reading.answers
        )
    return FaultLine(
        case,
        mean_score(one.before for one in judged),
        mean_score(one.after for one in judged),
        owned,
        pstdev(one.after.f3 for one in judged),
        reading.seconds,
        None if twin is None else fmean(bool(answer) for answer in twin.answers),
    )
