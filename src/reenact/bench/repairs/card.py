"""The score card of `reenact bench repair`: goals, strategies side by side, one row a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from statistics import fmean

from reenact.bench.faults.case import FaultCase, Scale
from reenact.bench.faults.cases import published_means
from reenact.bench.repairs.figures import Fault, Figures, median_rate, told
from reenact.bench.scorecard import Goal, Scorecard, Table

JUDGED = "guided"
RATES = {"20": 1.0, "10": 0.9}
"""Least median improvement rate, by budget."""
OVERALL = (
    "strategy", "budget", "median IR", "significant", "sigma", "changes", "of the knobs", "AJ", "AJ many",
    "trainings", "s",
)  # fmt: skip
EACH = (
    "fault", "faulty", "fixed", "repaired", "sigma", "IR", "sign.", "changes", "AJ", "AJ+", "n", "s",
    "published",
)  # fmt: skip
"""AJ+: against the best of many ground truths; n: trainings; published: the best tool without a model."""


def scorecard(
    found: Sequence[Fault],
    cases: Sequence[FaultCase],
    missing: Mapping[str, str],
    scale: Scale,
    strategies: Sequence[str],
    budgets: Sequence[str],
) -> Scorecard:
    """Everything that was measured."""
    by_id = {case.id: case for case in cases}
    limit = max(map(float, budgets))
    dear = {one.reference.case: f"{one.reference.cost:.1f}" for one in found if one.reference.cost > limit}
    fair = [one for one in found if one.reference.case not in dear]
    ways = [(strategy, budget) for strategy in strategies for budget in budgets]
    figures = {way: [one for fault in fair if (one := fault.by(*way)) is not None] for way in ways}
    figures = {way: listed for way, listed in figures.items() if listed}
    return Scorecard(
        name=f"repair-{scale}",
        figures=_closing(figures),
        goals=tuple(_goals(figures, by_id)),
        tables=(
            Table("Strategies, over all faults", OVERALL, tuple(_overall(*one) for one in figures.items())),
            _published(),
            *(_faults(way, listed, by_id) for way, listed in figures.items()),
            Table("Known fix dearer than the budget", ("fault", "trainings' worth"), tuple(dear.items())),
            Table("Not run", ("fault", "why"), tuple(missing.items())),
        ),
        facts={
            "references": [asdict(one.reference) for one in found],
            "runs": [asdict(run) for one in found for run in one.runs],
            "missing": dict(missing),
        },
    )


def _closing(figures: Mapping[tuple[str, str], Sequence[Figures]]) -> str:
    return "; ".join(
        f"{strategy} at {budget}: median IR {median_rate(listed):.2f}, "
        f"{sum(one.repaired for one in listed)} of {len(listed)} significant"
        for (strategy, budget), listed in figures.items()
    )


def _goals(
    figures: Mapping[tuple[str, str], Sequence[Figures]], cases: Mapping[str, FaultCase]
) -> Iterator[Goal]:
    for budget, least in RATES.items():
        if listed := figures.get((JUDGED, budget)):
            rate = median_rate(listed)
            name = f"median improvement rate, budget {budget}"
            yield Goal(name, f">= {least}", f"{rate:.2f}", rate >= least)
    ours = [listed for (strategy, _), listed in figures.items() if strategy == JUDGED]
    if not ours:
        return
    last = ours[-1]
    share = fmean(one.repaired for one in last)
    wanted = ">= 90 % (published best 28 of 30)"
    yield Goal("faults with a significant patch", wanted, f"{100 * share:.0f} %", share >= 0.9)
    above = fmean(one.complexity - len(cases[one.reference.case].faults) for one in last)
    yield Goal("changes above the ground truth, mean", "<= 1", f"{above:.2f}", above <= 1)
    sigma = fmean(one.sigma for one in last)
    yield Goal("sigma over repeats, mean", "<= 0.03", f"{sigma:.3f}", sigma <= 0.03)


def _overall(way: tuple[str, str], listed: Sequence[Figures]) -> tuple[str, ...]:
    names = ("sigma", "complexity", "normalised", "jaccard", "jaccard_many", "trainings", "seconds")
    sigma, *means = (fmean(getattr(one, name) for one in listed) for name in names)
    significant = f"{sum(one.repaired for one in listed)} of {len(listed)}"
    return (
        *way,
        f"{median_rate(listed):.2f}",
        significant,
        f"{sigma:.3f}",
        *(f"{mean:.2f}" for mean in means),
    )


def _published() -> Table:
    means = published_means()
    rows = [
        (
            tool,
            f"{rate:.2f}",
            f"{means.significant_of_30.get(tool, '-')} of 30",
            f"{means.mean_sigma[tool]:.3f}" if tool in means.mean_sigma else "-",
        )
        for tool, rate in means.median_improvement_rate.items()
    ]
    return Table("Published, budget 20", ("tool", "median IR", "significant", "sigma"), tuple(rows))


def _faults(way: tuple[str, str], listed: Sequence[Figures], cases: Mapping[str, FaultCase]) -> Table:
    rows = tuple(_fault(one, cases[one.reference.case]) for one in listed)
    return Table(f"{way[0]}, budget {way[1]}", EACH, rows)


def _fault(one: Figures, case: FaultCase) -> tuple[str, ...]:
    reference = one.reference
    return (
        reference.case,
        f"{told(reference.faulty, reference):.3g}",
        f"{told(reference.fixed, reference):.3g}",
        f"{one.metric:.3g}",
        f"{one.sigma:.3f}",
        f"{one.rate:.2f}",
        f"{one.significant}/{len(one.runs)}",
        f"{one.complexity:.1f} ({len(case.faults)})",
        f"{one.jaccard:.2f}",
        f"{one.jaccard_many:.2f}",
        f"{one.trainings:.0f}",
        f"{one.seconds:.0f}",
        _table_nine(case),
    )


def _table_nine(case: FaultCase) -> str:
    """The best published mean of the tools without a language model."""
    repairs = case.published.repairs.items()
    known = [(name, made.mean) for name, made in repairs if made is not None and "GPT" not in name]
    if not known:
        return "-"
    name, mean = (max if case.larger_is_better else min)(known, key=lambda pair: pair[1])
    return f"{mean:.2f} ({name})"
