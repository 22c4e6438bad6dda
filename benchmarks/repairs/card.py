"""The score card of `python -m benchmarks repair`: goals, strategies, a row per fault, figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean, median

from benchmarks.faults.case import FaultCase, Scale
from benchmarks.repairs import tables
from benchmarks.repairs.figures import Fault, Figures, median_rate
from benchmarks.repairs.plots import plots
from benchmarks.scorecard import Figure, Goal, Scorecard, Table
from benchmarks.share import Share, mean_figure
from reenact.types import JsonValue

JUDGED = "guided"
RATES = {"20": 1.0, "10": 0.9}
"""Least median improvement rate, by budget."""


def scorecard(
    found: Sequence[Fault],
    cases: Sequence[FaultCase],
    missing: Mapping[str, str],
    scale: Scale,
    strategies: Sequence[str],
    budgets: Sequence[str],
    *,
    over: bool = True,
) -> Scorecard:
    """Everything that was measured; `over`: nothing is left to be run, so that goals can be
    judged.
    """
    by_id = {case.id: case for case in cases}
    order = list(by_id)
    missing = {
        **missing,
        **{one.reference.case: one.failed for one in found if one.failed},
    }
    ran = sorted(
        (one for one in found if not one.failed),
        key=lambda one: order.index(one.reference.case),
    )
    limit = max(map(float, budgets))
    expensive = {
        one.reference.case: f"{one.reference.cost:.1f}" for one in ran if one.reference.cost > limit
    }
    fair = [one for one in ran if one.reference.case not in expensive]
    ways = [(strategy, budget) for strategy in strategies for budget in budgets]
    figures = {way: [one for fault in fair if (one := fault.by(*way)) is not None] for way in ways}
    figures = {way: listed for way, listed in figures.items() if listed}
    last = max(budgets, key=float)
    ours = {strategy: listed for (strategy, budget), listed in figures.items() if budget == last}
    return Scorecard(
        name=f"repair-{scale}",
        figures=("" if over else "so far, ") + _closing(figures),
        goals=tuple(_goals(figures, by_id, over=over)),
        tables=(
            tables.overall(figures),
            tables.published(),
            *(tables.each_fault(way, listed, by_id) for way, listed in figures.items()),
            tables.words(),
            tables.table_nine(ours, cases, last),
            Table(
                "Known fix dearer than the budget",
                ("fault", "trainings' worth"),
                tuple(expensive.items()),
            ),
            Table("Not run", ("fault", "why"), tuple(missing.items())),
            tables.times(found),
        ),
        measured=_figures(figures),
        facts={
            "references": [asdict(one.reference) for one in ran],
            "runs": [asdict(run) for one in ran for run in one.runs],
            "took": [_took(one) for one in found],
            "missing": dict(missing),
        },
        plots=tuple(plots(figures, by_id)),
    )


def _took(one: Fault) -> dict[str, JsonValue]:
    times = {"cpu_s": one.cpu_seconds, "wall_s": one.took}
    return {"case": one.reference.case, "trained": one.trained, **times}


def _figures(figures: Mapping[tuple[str, str], Sequence[Figures]]) -> dict[str, Figure]:
    found = {}
    for (strategy, budget), listed in figures.items():
        rates = [one.rate for one in listed if not math.isnan(one.rate)]
        way, name = f"{strategy}_{budget}", f"{strategy}, budget {budget}"
        found[f"{way}_rate"] = mean_figure(f"{name}: median improvement rate", rates, median)
        repaired = Share(sum(one.repaired for one in listed), len(listed))
        found[f"{way}_significant"] = repaired.figure(f"{name}: faults with a significant patch")
    return found


def _closing(figures: Mapping[tuple[str, str], Sequence[Figures]]) -> str:
    return "; ".join(
        f"{strategy} at {budget}: median IR {median_rate(listed):.2f}, "
        f"{sum(one.repaired for one in listed)} of {len(listed)} significant"
        for (strategy, budget), listed in figures.items()
    )


def _goals(
    figures: Mapping[tuple[str, str], Sequence[Figures]],
    cases: Mapping[str, FaultCase],
    *,
    over: bool,
) -> Iterator[Goal]:
    """A goal is judged by all faults; before, it is only reported."""

    def goal(name: str, wanted: str, reached: str, met: bool) -> Goal:
        return Goal(name, wanted, reached, met if over else None)

    for budget, least in RATES.items():
        if listed := figures.get((JUDGED, budget)):
            rate = median_rate(listed)
            name = f"median improvement rate, budget {budget}"
            yield goal(name, f">= {least}", f"{rate:.2f}", rate >= least)
    ours = {budget: listed for (strategy, budget), listed in figures.items() if strategy == JUDGED}
    if not ours:
        return
    budget = max(ours, key=float)
    last = ours[budget]
    share = fmean(one.repaired for one in last)
    wanted = ">= 90 % (published best 28 of 30)"
    counted = f"{100 * share:.0f} % ({sum(one.repaired for one in last)} of {len(last)})"
    yield goal(
        f"faults with a significant patch, budget {budget}",
        wanted,
        counted,
        share >= 0.9,
    )
    above = [
        fmean(one.proven) - len(cases[one.reference.case].faults) for one in last if one.proven
    ]
    name = "changes of significant patches above the known fix, mean"
    if above:
        yield goal(name, "<= 1", f"{fmean(above):.2f}", fmean(above) <= 1)
    else:
        yield Goal(name, "<= 1", "no significant patch", None)
    # What nobody changed has no spread: only patches that hold count.
    name = f"sigma over repeats of the repaired faults, mean, budget {budget}"
    spreads = [one.sigma for one in last if one.repaired]
    if spreads:
        yield goal(name, "<= 0.03", f"{fmean(spreads):.3f}", fmean(spreads) <= 0.03)
    else:
        yield Goal(name, "<= 0.03", "no significant patch", None)
