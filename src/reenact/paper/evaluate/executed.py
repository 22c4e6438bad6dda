"""Execution rate and performance gap over many runs: with failures counted as a gap of 1, and without them.

The gap of one run is |reference - measured| / max(reference, measured) (AutoReproduce, equation 1); a run
that did not execute has the gap 1. Several runs of one paper are averaged first, so that a paper that was
tried more often counts no more than another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from reenact.paper.measure.gap import gap_of


@dataclass(frozen=True, slots=True)
class Executed:
    """One run of generated code for one paper."""

    paper: str
    reference: float
    """What the reference implementation reaches."""
    measured: float | None
    """What the run measured; none when it did not execute, or left no such metric."""

    @property
    def gap(self) -> float | None:
        """None when there is nothing to compare."""
        return None if self.measured is None else gap_of(self.reference, self.measured)


@dataclass(frozen=True, slots=True)
class ExecutedScore:
    """The Exec-Score of AutoReproduce."""

    papers: int
    runs: int
    rate: float
    """Share of runs that executed, the mean over papers."""
    gap: float
    """Mean gap over all runs, a failure as 1."""
    gap_executed: float | None
    """Mean gap over the runs that executed; none without one."""


def executed_score(runs: Sequence[Executed]) -> ExecutedScore | None:
    """Means over papers of means over their runs; none without a run."""
    if not runs:
        return None
    by_paper: dict[str, list[Executed]] = {}
    for run in runs:
        by_paper.setdefault(run.paper, []).append(run)
    executed = [[run.gap for run in ones if run.gap is not None] for ones in by_paper.values()]
    told = [fmean(gaps) for gaps in executed if gaps]
    return ExecutedScore(
        papers=len(by_paper),
        runs=len(runs),
        rate=fmean(fmean(run.measured is not None for run in ones) for ones in by_paper.values()),
        gap=fmean(fmean(1.0 if run.gap is None else run.gap for run in ones) for ones in by_paper.values()),
        gap_executed=fmean(told) if told else None,
    )
