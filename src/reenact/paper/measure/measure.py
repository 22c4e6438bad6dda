"""Measurement, top to bottom: full runs, matching, comparison, verdict, a repair when the gap is large.

Which metric of the code is which claim of the paper is declared by the research role and checked here.
Whoever matches sees neither the paper's numbers nor the measured ones, so that nothing can be chosen for its
value; only whether all values of a metric lie between 0 and 1, which tells a share from per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from reenact.asking import ask
from reenact.codegen.project import Project
from reenact.errors import AnswerUnusable
from reenact.journal import Scope
from reenact.llm.ask import Model
from reenact.llm.prompts import load_prompt
from reenact.paper.context import PaperContext
from reenact.paper.criterion import Criterion
from reenact.paper.develop.development import Development
from reenact.paper.measure.gap import Comparison, Match, compare, settings_that_differ
from reenact.paper.measure.gap_repair import Gap, GapRepair, is_large, repair_gap
from reenact.paper.measure.invented import invented
from reenact.paper.measure.orderings import Ordering, orderings
from reenact.paper.measure.runs import FullRun, full_runs, metric_names
from reenact.paper.measure.verdict import Judgement, verdict_of
from reenact.paper.review.claims import Claim

UNMATCHED = "No usable answer tells which metric is this claim."


@dataclass(frozen=True)
class Measured:
    """What the experiment gave."""

    runs: tuple[FullRun, ...]
    comparisons: tuple[Comparison, ...]
    """Of the code as it was written."""
    judgement: Judgement
    """Of that code alone: a change that a repair found is a hypothesis, not the paper."""
    gap_repair: GapRepair | None = None
    notes: tuple[str, ...] = ()
    orderings: tuple[Ordering, ...] = ()


def measure(
    claims: Sequence[Claim], criteria: Sequence[Criterion], made: Development, context: PaperContext,
    run: Scope,
) -> Measured:  # fmt: skip
    """Run the experiment, compare it with the paper, and look for what the paper may not say."""
    options = context.options
    if not made.runs:
        nothing = compare(claims, (), ())
        stated = orderings(nothing)
        return Measured((), nothing, verdict_of(nothing, stated, runs=False), orderings=stated)
    runs = _full_runs(made.project, context, run)
    pairs, unmatched = matched(claims, runs, made.project, context.model, run)
    differs = settings_that_differ(criteria, made.judged, options.scale, made.stand_in)

    def compared(project: Project, runs: Sequence[FullRun]) -> tuple[tuple[Comparison, ...], tuple[str, ...]]:
        """The claims beside the runs, and what is not believed or failed."""
        unbelieved = invented(project, metric_names(runs), claims)
        failed = (f"Seed {one.seed}: {one.why}" for one in runs if not one.ok)
        refused = [one.metric for one in unbelieved]
        beside = compare(claims, runs, pairs, refused=refused, differs=differs)
        return beside, (*map(str, unbelieved), *failed)

    comparisons, notes = compared(made.project, runs)
    if unmatched:
        comparisons = tuple(replace(one, note=UNMATCHED) for one in comparisons)
        notes = (unmatched, *notes)
    tested = orderings(comparisons)
    judgement = verdict_of(comparisons, tested, runs=True, scale=options.scale, stand_in=made.stand_in)
    repaired = None
    if options.repair and options.parts.debug and is_large(comparisons) and not made.stand_in:
        place = run.under("mend")

        def again(project: Project) -> tuple[Comparison, ...]:
            # A changed setting measures the same metrics: they are matched once.
            return compared(project, _full_runs(project, context, place))[0]

        gap = Gap(made.project, tuple(criteria), made.judged, comparisons, again)
        repaired = repair_gap(gap, context, place)
    return Measured(runs, comparisons, judgement, repaired, notes, tested)


def _full_runs(project: Project, context: PaperContext, run: Scope) -> tuple[FullRun, ...]:
    """The experiment with every seed, as the options ask for."""
    options = context.options
    return full_runs(
        project, context.runner, run, range(options.seeds), wall_s=options.run_wall_s, scale=options.scale,
        say=context.say,
    )  # fmt: skip


class Matches(BaseModel):
    """All claims that the code measures; claims that it does not measure are left out."""

    matches: list[Match] = Field(default_factory=list, max_length=200)


def matched(
    claims: Sequence[Claim], runs: Sequence[FullRun], project: Project, model: Model, run: Scope
) -> tuple[tuple[Match, ...], str]:
    """The declared matching, and why there is none when no usable answer came."""
    names = metric_names(runs)
    if not names or not claims:
        return (), ""
    prompt = load_prompt("reenact.paper.measure", "prompts/match.md").fill(
        claims="\n".join(_without_number(claim) for claim in claims),
        metrics="\n".join(names),
        project=project.text(),
    )
    known = {claim.id: claim for claim in claims}
    try:
        answer = ask(run, model, "match", prompt, Matches, check=lambda one: _check(one, known, names))
    except AnswerUnusable as error:
        return (), f"Nobody could say which metric is which claim: {error.sentence}"
    return tuple(answer.matches), ""


def _check(answer: Matches, known: dict[str, Claim], names: Sequence[str]) -> None:
    seen: set[str] = set()
    for one in answer.matches:
        if one.claim not in known:
            raise ValueError(f"There is no claim {one.claim!r}. The claims are: {', '.join(known)}.")
        if one.metric not in names:
            raise ValueError(f"There is no metric {one.metric!r}. The metrics are: {', '.join(names)}.")
        if one.claim in seen:
            raise ValueError(f"The claim {one.claim} is matched twice. A claim has one metric.")
        seen.add(one.claim)


def _without_number(claim: Claim) -> str:
    """A claim without its number."""
    unit = " in per cent" if claim.unit == "%" else ""
    parts = [f"{claim.id}: {claim.metric}{unit} of {claim.method} on {claim.dataset}", claim.setting]
    return "; ".join(part for part in parts if part)
