"""One case, one variant: `reenact paper` is run, and what came of it compared with the truth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from statistics import fmean

from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase, StatedClaim
from benchmarks.papers.matching import recalled
from benchmarks.papers.runner import BenchRunner, CaseRun
from benchmarks.papers.twins import twin_paper
from reenact.errors import AnswerUnusable, ReplayMiss
from reenact.intake.papers.clients import Library
from reenact.intake.papers.paper import Paper, plain
from reenact.intake.papers.read import read_paper
from reenact.journal import Journal
from reenact.llm.ask import Model, Usage
from reenact.llm.budget import price
from reenact.llm.recording import Replay
from reenact.paper.criterion import Value
from reenact.paper.measure.gap import Comparison, gap_of
from reenact.paper.measure.verdict import Verdict
from reenact.paper.pipeline import PaperServices, reproduce
from reenact.paper.quantity import near
from reenact.paper.reproduction import Reproduction
from reenact.paper.review.claims import PaperClaim

PRICED_AS = ("o3-mini", "https://api.openai.com/v1")
"""Whose prices AutoReproduce states its cost at."""


def run_case(case_run: CaseRun, runner: BenchRunner) -> CaseResult:
    """What came of it. A model that cannot answer leaves it inconclusive, as it does for a user."""
    begun = time.monotonic()
    case = case_run.case
    paper = _paper(case, runner)
    model = runner.model_for(case_run)
    try:
        with runner.journal_for(case_run) as (journal, fresh):
            services = _services(case_run, runner, model, journal, fresh)
            found = reproduce(paper, services, options=runner.options_for(case_run))
            result = _result(case_run, found, paper, journal)
    except (AnswerUnusable, ReplayMiss) as error:
        why = f"{error.sentence} {error.next_step}".strip()
        result = CaseResult(case.id, case_run.variant.name, case_run.run, Verdict.INCONCLUSIVE, why)
    other = model.earlier if isinstance(model, Replay) else 0
    return replace(result, seconds=time.monotonic() - begun, other_words=other)


def _paper(case: PaperCase, runner: BenchRunner) -> Paper:
    printed = nullcontext(case.paper) if case.twin is None else twin_paper(case.twin, case.paper)
    with printed as place:
        # The folder's place is none of the pipeline's business.
        return replace(read_paper(str(place), box=runner.sandbox), source=case.id)


def _services(
    case_run: CaseRun, runner: BenchRunner, model: Model, journal: Journal, fresh: bool
) -> PaperServices:
    folder = case_run.case.library
    return PaperServices(
        journal=journal,
        model=model,
        sandbox=runner.sandbox,
        cache=runner.cache,
        traces=runner.cache / "traces",
        environments=runner.environments,
        library=Library(folder) if folder is not None else None,
        tell=runner.tell,
        stop=runner.stop,
        fresh=fresh,
    )


def _result(case_run: CaseRun, found: Reproduction, paper: Paper, journal: Journal) -> CaseResult:
    case = case_run.case
    spent = journal.find(found.run_id)
    criteria = found.fingerprint.criteria
    return CaseResult(
        case=case.id,
        variant=case_run.variant.name,
        run=case_run.run,
        verdict=found.verdict,
        reason=found.judgement.reason,
        executed=any(run.ok for run in found.runs),
        measured=goal_measured(case, found.comparisons),
        gap=goal_gap(case, found.comparisons),
        recalled=recalled(criteria, case.criteria, paper) if criteria else None,
        passed=found.count(Value.PASS),
        failed=found.count(Value.FAIL),
        unknown=found.count(Value.UNKNOWN),
        lineage=tuple(one.key for one in found.exemplars),
        tokens_in=spent.tokens_in,
        tokens_out=spent.tokens_out,
        money=found.money,
        at_o3=price(Usage(spent.tokens_in, spent.tokens_out), *PRICED_AS),
    )


def goal_gap(case: PaperCase, comparisons: Sequence[Comparison]) -> float:
    """Mean over the claims of the goal, against what the reference implementation measured."""
    return fmean(
        gap_of(_reference(case, one), _found(one, case, comparisons)) for one in case.wanted
    )


def goal_measured(case: PaperCase, comparisons: Sequence[Comparison]) -> float | None:
    """Of the number that the reference is of: the goal's method, the claim nearest to the
    reference.
    """
    own = [one for one in case.wanted if _same_name(one.method, case.goal.method)] or case.wanted
    nearest = min(own, key=lambda one: abs(_reference(case, one) - case.reference.value))
    return _found(nearest, case, comparisons)


def _reference(case: PaperCase, claim: StatedClaim) -> float:
    """Unrounded where the goal asks for one number, as the paper rounds it where for several."""
    stated = claim.value if case.twin is None else case.twin.true_value(claim.value)
    return case.reference.value if len(case.wanted) == 1 else stated


def _found(claim: StatedClaim, case: PaperCase, comparisons: Sequence[Comparison]) -> float | None:
    """What was measured of a claim. Where the paper's own numbers are not known, names alone
    decide.
    """
    fitting = (
        one.measured
        for one in comparisons
        if _same_name(one.claim.method, claim.method)
        and (near(one.claim.value, claim.value) if case.claims else _same_names(one.claim, claim))
    )
    return next((value for value in fitting if value is not None), None)


def _same_names(first: PaperClaim, second: StatedClaim) -> bool:
    return _same_name(first.metric, second.metric) and _same_name(first.dataset, second.dataset)


def _same_name(first: str, second: str) -> bool:
    one, other = plain(first), plain(second)
    return bool(one) and bool(other) and (one in other or other in one)
