"""The tables of `python -m benchmarks repair`: all strategies, each fault, and what the study
printed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

from benchmarks.faults.case import FaultCase
from benchmarks.faults.case import Repaired as Published
from benchmarks.faults.cases import published_means
from benchmarks.repairs.figures import Fault, Figures, mean_value, median_rate
from benchmarks.scorecard import Table

OVERALL = (
    "strategy",
    "budget",
    "runs",
    "median IR",
    "significant",
    "sigma",
    "changes",
    "of the hyperparameters",
    "AJ",
    "AJ many",
    "trainings",
    "s",
)
EACH = (
    "fault",
    "data",
    "faulty",
    "fixed",
    "repaired",
    "sigma",
    "IR",
    "sign.",
    "p over runs",
    "changes",
    "norm.",
    "AJ",
    "AJ many",
    "trainings",
    "s",
    "published best",
)
TOOLS = ("Random", "AutoTrainer", "HEBO", "BOHB", "GPT-3.5", "GPT-4", "GPT-4T")
WORDS = (
    (
        "data",
        "what the programs train on; a stand-in has other texts and other figures than the study's",
    ),
    (
        "faulty, fixed, repaired",
        "mean over fresh seeds, on data that chose nothing; each run has its own",
    ),
    (
        "sigma",
        "over runs, one training each; of an error or a loss, as a share of the faulty one's",
    ),
    ("IR", "(repaired - faulty) / (fixed - faulty), mean over the runs"),
    (
        "sign.",
        "runs whose first verified patch is better significantly (p < .05) and enough to matter",
    ),
    (
        "p over runs",
        "the study's test: Wilcoxon, two-sided, one training before and after a run",
    ),
    (
        "significant",
        "faults with p over runs < .05; below six runs, with a significant patch in most runs",
    ),
    (
        "changes",
        "changed hyper-parameters, mean over the repeats (those of the known fix)",
    ),
    ("norm.", "the same as a share of those that could be changed"),
    (
        "AJ, AJ many",
        "share of the known faults that the patch speaks of: one truth; the best of many",
    ),
    (
        "trainings, s",
        "of the watched run, search and minimising; what was shared counts in full",
    ),
    ("runs", "independent ones of a fault, each with its own seeds"),
    (
        "random, bohb, hebo",
        "search what the study let its tools search; with :own, what guided may change",
    ),
    ("published best", "Table 9, budget 20, of the tools without a language model"),
)
TIMES = ("fault", "trainings done", "CPU s", "wall s")

Way = tuple[str, str]
"""Strategy and budget."""


def overall(figures: Mapping[Way, Sequence[Figures]]) -> Table:
    return Table(
        "Strategies, over all faults",
        OVERALL,
        tuple(_overall(*one) for one in figures.items()),
    )


def _overall(way: Way, listed: Sequence[Figures]) -> tuple[str, ...]:
    names = (
        "sigma",
        "complexity",
        "normalised",
        "jaccard",
        "jaccard_many",
        "trainings",
        "seconds",
    )
    sigma, *means = (fmean(getattr(one, name) for one in listed) for name in names)
    significant = f"{sum(one.repaired for one in listed)} of {len(listed)}"
    return (
        *way,
        str(max(len(one.runs) for one in listed)),
        f"{median_rate(listed):.2f}",
        significant,
        f"{sigma:.3f}",
        *(f"{mean:.2f}" for mean in means),
    )


def words() -> Table:
    return Table("Words", ("column", "what it is"), WORDS)


def published() -> Table:
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
    return Table(
        "Published, budget 20",
        ("tool", "median IR", "significant", "sigma"),
        tuple(rows),
    )


def table_nine(
    ours: Mapping[str, Sequence[Figures]], cases: Sequence[FaultCase], budget: str
) -> Table:
    """Table 9 with our strategies in front; a star: significant."""
    known = {
        (strategy, one.reference.case): one for strategy, listed in ours.items() for one in listed
    }
    rows = tuple(
        (
            case.id,
            _number(case.published.faulty_metric),
            _number(case.published.fixed_metric),
            *(_ours(known.get((strategy, case.id))) for strategy in ours),
            *(_theirs(case.published.repairs.get(tool)) for tool in TOOLS),
        )
        for case in cases
        if case.repair_study and any((strategy, case.id) in known for strategy in ours)
    )
    columns = ("fault", "faulty", "fixed", *(f"{name}, here" for name in ours), *TOOLS)
    title = (
        f"Table 9, published at budget 20 (mean, sigma, *: significant), beside ours at budget "
        f"{budget}"
    )
    return Table(title, columns, rows)


def _ours(one: Figures | None) -> str:
    if one is None:
        return "-"
    before = mean_value(one.reference.faulty, one.reference)
    star = "*" if one.repaired else ""
    return f"{before:.3g} to {one.metric:.3g} ({one.sigma:.3f}){star}"


def _theirs(one: Published | None) -> str:
    return (
        "-" if one is None else f"{one.mean:.2f} ({one.sigma:.2f}){'*' if one.significant else ''}"
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3g}"


def each_fault(way: Way, listed: Sequence[Figures], cases: Mapping[str, FaultCase]) -> Table:
    rows = tuple(_fault(one, cases[one.reference.case]) for one in listed)
    return Table(f"{way[0]}, budget {way[1]}", EACH, rows)


def _fault(one: Figures, case: FaultCase) -> tuple[str, ...]:
    reference = one.reference
    return (
        reference.case,
        reference.data,
        f"{mean_value(reference.faulty, reference):.3g}",
        f"{mean_value(reference.fixed, reference):.3g}",
        f"{one.metric:.3g}",
        f"{one.sigma:.3f}",
        "-" if math.isnan(one.rate) else f"{one.rate:.2f}",
        f"{one.significant}/{len(one.runs)}",
        "-" if one.p_over_runs is None else f"{one.p_over_runs:.2g}",
        f"{one.complexity:.1f} ({len(case.faults)})",
        f"{one.normalised:.2f}",
        f"{one.jaccard:.2f}",
        f"{one.jaccard_many:.2f}",
        f"{one.trainings:.0f}",
        f"{one.seconds:.0f}",
        _best_published(case),
    )


def _best_published(case: FaultCase) -> str:
    """The best published mean of the tools without a language model."""
    repairs = case.published.repairs.items()
    known = [(name, made.mean) for name, made in repairs if made is not None and "GPT" not in name]
    if not known:
        return "-"
    name, mean = (max if case.larger_is_better else min)(known, key=lambda pair: pair[1])
    return f"{mean:.2f} ({name})"


def times(found: Sequence[Fault]) -> Table:
    """What was really done: equal trainings are done once for all runs of a fault."""
    rows = [(one.reference.case, one.trained, one.cpu_seconds, one.took) for one in found]
    totals = (
        "all",
        sum(row[1] for row in rows),
        sum(row[2] for row in rows),
        sum(row[3] for row in rows),
    )
    shown = tuple(
        (name, str(done), f"{cpu:.0f}", f"{wall:.0f}") for name, done, cpu, wall in (*rows, totals)
    )
    return Table("What it took", TIMES, shown)
