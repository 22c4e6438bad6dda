"""The figures of one strategy on one fault, over its repeats; and over all faults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

from benchmarks.repairs.repaired import Reference, Repaired, improvement_rate
from reenact.trials.statistics import compare

ALPHA = 0.05
LEAST_RUNS = 6
"""Below this no two-sided test over runs can reach significance."""


@dataclass(frozen=True)
class Fault:
    """All runs of one fault."""

    reference: Reference
    runs: tuple[Repaired, ...]
    trained: int = 0
    """Trainings that were really done: equal ones are done once for all runs."""
    cpu_seconds: float = 0.0
    """Of these."""
    took: float = 0.0
    """Wall seconds of everything."""
    failed: str = ""
    """Why there are no figures; empty when there are."""

    def by(self, strategy: str, budget: str) -> Figures | None:
        """The repeats of one strategy with one budget."""
        runs = [run for run in self.runs if run.strategy == strategy and run.budget == budget]
        return Figures(self.reference, tuple(runs)) if runs else None


@dataclass(frozen=True)
class Figures:
    """Repeats of one strategy on one fault."""

    reference: Reference
    runs: tuple[Repaired, ...]

    @property
    def rate(self) -> float:
        """Improvement rate, mean over repeats; NaN where the known fix is no improvement."""
        return fmean(improvement_rate(run.after, self.reference) for run in self.runs)

    @property
    def significant(self) -> int:
        return sum(self.holds(run) for run in self.runs)

    def holds(self, run: Repaired) -> bool:
        """Whether a run claims a better program and its seeds say so too: nobody is taken at their
        word.

        A verification that was settled early has the first of the seeds that judge.
        """
        return run.significant and len(run.after) > 1 and _compared(run.before, run.after) < ALPHA

    @property
    def p_over_runs(self) -> float | None:
        """The study's test: one training of the faulty and one of the repaired program a run, on a
        seed that only this run has; Wilcoxon, two-sided. None for fewer runs than could reach
        significance.
        """
        if len(self.runs) < LEAST_RUNS:
            return None
        one_sided = _compared(*zip(*(self._trained(run) for run in self.runs), strict=True))
        return min(1.0, 2 * one_sided)

    @property
    def repaired(self) -> bool:
        """By the test over runs; of few runs, most ended with a significant patch."""
        p = self.p_over_runs
        return 2 * self.significant > len(self.runs) if p is None else p < ALPHA

    @property
    def sigma(self) -> float:
        """Spread of the metric over runs, one training each, so that it holds the noise of
        training; of an error or a loss, as a share of the faulty one's.
        """
        whole = (
            1.0
            if self.reference.larger_is_better
            else abs(mean_value(self.reference.faulty, self.reference))
        )
        trained = (mean_value(self._trained(run)[1:], self.reference) for run in self.runs)
        return pstdev(trained) / (whole or 1.0)

    def _trained(self, run: Repaired) -> tuple[float, float]:
        """One training before and one after; where nothing was found, the same one of the
        faulty program.
        """
        if run.complexity:
            return run.before[0], run.after[0]
        known = self.reference.faulty[run.repeat % len(self.reference.faulty)]
        return known, known

    @property
    def metric(self) -> float:
        return fmean(mean_value(run.after, self.reference) for run in self.runs)

    @property
    def complexity(self) -> float:
        return fmean(run.complexity for run in self.runs)

    @property
    def proven(self) -> tuple[int, ...]:
        """Complexities of the significant patches."""
        return tuple(run.complexity for run in self.runs if self.holds(run))

    @property
    def normalised(self) -> float:
        """Changes as a share of the hyper-parameters that could be changed."""
        return self.complexity / max(1, self.reference.hyperparameters)

    @property
    def jaccard(self) -> float:
        return fmean(run.jaccard for run in self.runs)

    @property
    def jaccard_many(self) -> float:
        return fmean(run.jaccard_many for run in self.runs)

    @property
    def trainings(self) -> float:
        return fmean(run.trainings for run in self.runs)

    @property
    def seconds(self) -> float:
        return fmean(run.seconds for run in self.runs)


def _compared(before: Sequence[float], after: Sequence[float]) -> float:
    """One-sided p-value; a training that gave no number is the worst."""
    known = (
        [value if math.isfinite(value) else -math.inf for value in one] for one in (before, after)
    )
    return compare(*known).p_value


def mean_value(values: Sequence[float], reference: Reference) -> float:
    """The mean of the trainings that gave a number, as the program tells it."""
    known = [value for value in values if math.isfinite(value)]
    worst = min((value for value in reference.faulty if math.isfinite(value)), default=0.0)
    mean = fmean(known) if known else worst
    return mean if reference.larger_is_better else -mean


def median_rate(figures: Sequence[Figures]) -> float:
    """Over the faults whose known fix is an improvement here."""
    rates = [one.rate for one in figures if not math.isnan(one.rate)]
    return median(rates) if rates else math.nan
