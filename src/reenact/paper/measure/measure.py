"""Measurement, top to bottom: full runs, matching, comparison, verdict, a repair when the gap is large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.codegen.project import Project
from reenact.journal import Journal, Scope
from reenact.paper.claim import Claim
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Criterion
from reenact.paper.develop.development import Development
from reenact.paper.measure.gap import Comparison, compare, settings_that_differ
from reenact.paper.measure.gap_repair import Gap, GapRepair, RepairContext, is_large, repair_gap
from reenact.paper.measure.invented import invented
from reenact.paper.measure.matching import Pair, matched
from reenact.paper.measure.runs import FullRun, full_runs, metric_names
from reenact.paper.measure.verdict import Judgement, verdict_of

UNMATCHED = "No usable answer said which metric is this claim."


@dataclass(frozen=True)
class Measured:
    """What the experiment gave."""

    runs: tuple[FullRun, ...]
    comparisons: tuple[Comparison, ...]
    """Of the code as it was written."""
    judgement: Judgement
    """Of that code alone: a change that a repair found is a hypothesis, not the paper."""
    mending: GapRepair | None = None
    notes: tuple[str, ...] = ()


def measured(
    claims: Sequence[Claim],
    criteria: Sequence[Criterion],
    made: Development,
    context: PaperContext,
    run: Scope,
    journal: Journal,
    traces: Path,
) -> Measured:
    """Run the experiment, compare it with the paper, and look for what the paper may not say."""
    options = context.options
    if not made.runs:
        nothing = compare(claims, (), ())
        return Measured((), nothing, verdict_of(nothing, runs=False))
    runs = _full_runs(made.project, context, run)
    pairs, unmatched = matched(claims, runs, made.project, context.model, run)
    differs = settings_that_differ(criteria, made.judged, options.scale, made.stand_in)
    comparisons, notes = _compared(made.project, claims, runs, pairs, differs)
    if unmatched:
        comparisons = tuple(replace(one, note=UNMATCHED) for one in comparisons)
        notes = (unmatched, *notes)
    judgement = verdict_of(comparisons, runs=True, scale=options.scale, stand_in=made.stand_in)
    repaired = None
    if options.repair and options.parts.debug and is_large(comparisons) and not made.stand_in:
        place = run.under("mend")

        def measure(project: Project) -> tuple[Comparison, ...]:
            # A changed setting measures the same metrics: they are not matched anew.
            return _compared(project, claims, _full_runs(project, context, place), pairs, differs)[0]

        gap = Gap(made.project, tuple(criteria), made.judged, comparisons, measure)
        repaired = repair_gap(gap, RepairContext(context, place, journal, traces))
    return Measured(runs, comparisons, judgement, repaired, notes)


def _full_runs(project: Project, context: PaperContext, run: Scope) -> tuple[FullRun, ...]:
    """The experiment with every seed, as the options ask for."""
    options = context.options
    return full_runs(
        project, context.runner, run, range(options.seeds), wall_s=options.run_wall_s, scale=options.scale,
        say=context.say,
    )  # fmt: skip


def _compared(
    project: Project,
    claims: Sequence[Claim],
    runs: Sequence[FullRun],
    pairs: Sequence[Pair],
    differs: Sequence[str],
) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
    """The claims beside the runs, and what is not believed or failed."""
    unbelieved = invented(project, metric_names(runs), claims)
    refused = [one.metric for one in unbelieved]
    failed = (f"Seed {one.seed}: {one.why}" for one in runs if not one.ok)
    comparisons = compare(claims, runs, pairs, refused=refused, differs=differs)
    return comparisons, (*map(str, unbelieved), *failed)
