"""Figures 3 to 5 of the study, from what was measured here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from benchmarks.faults.case import FaultCase
from benchmarks.repairs.figures import Figures
from benchmarks.repairs.repaired import Repaired
from benchmarks.scorecard import Boxes

RATES = (-0.5, 2.0)
"""Ends of the axis of improvement rates: beyond it a rate says no more."""

Way = tuple[str, str]
"""Strategy and budget."""


def plots(
    figures: Mapping[Way, Sequence[Figures]], cases: Mapping[str, FaultCase]
) -> Iterator[Boxes]:
    """Improvement rates; complexity and asymmetric Jaccard of significant patches at the
    largest budget.
    """
    if not figures:
        return
    budgets = sorted({budget for _, budget in figures}, key=float)
    last = {
        strategy: listed for (strategy, budget), listed in figures.items() if budget == budgets[-1]
    }
    yield Boxes(
        name="figure-3",
        title="Figure 3: improvement rate of every fault",
        below="improvement rate (1: as good as the known fix)",
        rows=tuple(
            (
                f"budget {budget}",
                {
                    strategy: tuple(one.rate for one in listed)
                    for (strategy, own), listed in figures.items()
                    if own == budget
                },
            )
            for budget in budgets
        ),
        goal=1.0,
        bounds=RATES,
    )
    names = list(dict.fromkeys(one.reference.case for listed in last.values() for one in listed))
    yield Boxes(
        name="figure-4",
        title=f"Figure 4: changes of the significant patches, budget {budgets[-1]}",
        below="changed hyper-parameters",
        rows=tuple(
            (name, _by_strategy(last, name, "", lambda run: run.complexity)) for name in names
        ),
        marks={name: float(len(cases[name].faults)) for name in names},
        marked="known fix",
    )
    yield Boxes(
        name="figure-5",
        title=f"Figure 5: asymmetric Jaccard of the significant patches, budget {budgets[-1]}",
        below="share of the known faults that the patch speaks of",
        rows=tuple(
            (
                name,
                {
                    **_by_strategy(last, name, ", one truth", lambda run: run.jaccard),
                    **_by_strategy(last, name, ", many truths", lambda run: run.jaccard_many),
                },
            )
            for name in names
        ),
        bounds=(0.0, 1.0),
    )


def _by_strategy(
    last: Mapping[str, Sequence[Figures]],
    case: str,
    words: str,
    value: Callable[[Repaired], float],
) -> dict[str, tuple[float, ...]]:
    return {
        f"{strategy}{words}": tuple(value(run) for run in one.runs if run.significant)
        for strategy, listed in last.items()
        for one in listed
        if one.reference.case == case
    }
