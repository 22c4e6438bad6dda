"""Measurement, top to bottom: full runs, matching, comparison, verdict, a repair when the gap is large."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reenact.journal import Journal, Scope
from reenact.paper.claim import Claim
from reenact.paper.criterion import Criterion
from reenact.paper.develop.development import Development
from reenact.paper.develop.workshop import Workshop
from reenact.paper.measure.gap import Comparison, compare, settings_that_differ
from reenact.paper.measure.invented import invented
from reenact.paper.measure.matching import Pair, matched
from reenact.paper.measure.mend import Mending, is_large, mended
from reenact.paper.measure.runs import FullRun, full_runs, metric_names
from reenact.paper.measure.verdict import Judgement, verdict_of
from reenact.paper.project import Project

UNMATCHED = "No usable answer said which metric is this claim."


@dataclass(frozen=True)
class Measured:
    """What the experiment gave."""

    runs: tuple[FullRun, ...]
    comparisons: tuple[Comparison, ...]
    """Of the code as it was written."""
    judgement: Judgement
    """Of that code alone: a change that a repair found is a hypothesis, not the paper."""
    mending: Mending | None = None
    notes: tuple[str, ...] = ()


def measured(
    claims: Sequence[Claim],
    criteria: Sequence[Criterion],
    made: Development,
    services: Workshop,
    run: Scope,
    journal: Journal,
    traces: Path,
) -> Measured:
    """Run the experiment, compare it with the paper, and look for what the paper may not say."""
    wishes = services.wishes
    if not made.runs:
        nothing = compare(claims, (), ())
        return Measured((), nothing, verdict_of(nothing, runs=False))
    runs = full_runs(made.project, services, run, range(wishes.seeds))
    pairs, unmatched = matched(claims, runs, made.project, services, run)
    differs = settings_that_differ(criteria, made.judged, wishes.scale, made.stand_in)
    comparisons, notes = _compared(made.project, claims, runs, pairs, differs)
    if unmatched:
        comparisons = tuple(replace(one, note=UNMATCHED) for one in comparisons)
        notes = (unmatched, *notes)
    judgement = verdict_of(comparisons, runs=True, scale=wishes.scale, stand_in=made.stand_in)
    mending = None
    if wishes.repair and wishes.parts.debug and is_large(comparisons) and not made.stand_in:
        place = run.under("mend")

        def measure(project: Project) -> tuple[Comparison, ...]:
            # A changed setting measures the same metrics: they are not matched anew.
            again = full_runs(project, services, place, range(wishes.seeds))
            return _compared(project, claims, again, pairs, differs)[0]

        mending = mended(
            made.project, criteria, made.judged, comparisons, measure, services, place, journal, traces
        )
    return Measured(runs, comparisons, judgement, mending, notes)


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
