"""The figures of one strategy on one fault, over its repeats; and over all faults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev

from benchmarks.repairs.repaired import Reference, Repaired, improvement_rate
from reenact.trials.statistics import compare

ALPHA = 0.05


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
        """Whether a run claims a better program and its seeds say so too: nobody is taken at their word.

        A verification that was settled early has the first of the seeds that judge.
        """
        count = min(len(run.after), len(self.reference.faulty))
        known = (self.reference.faulty[:count], run.after[:count])
        faulty, after = ([value if math.isfinite(value) else -math.inf for value in one] for one in known)
        return run.significant and count > 1 and compare(faulty, after).p_value < ALPHA

    @property
    def repaired(self) -> bool:
        """Most repeats ended with a significant patch."""
        return 2 * self.significant > len(self.runs)

    @property
    def sigma(self) -> float:
        """Spread of the metric over repeats; of an error or a loss, as a share of the faulty one's."""
        whole = (
            1.0 if self.reference.larger_is_better else abs(mean_value(self.reference.faulty, self.reference))
        )
        return pstdev(mean_value(run.after, self.reference) for run in self.runs) / (whole or 1.0)

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
