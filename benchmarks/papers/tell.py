"""One case told one way: the story of `reenact paper`, and what came of it compared with the truth."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import fmean

from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase, StatedClaim
from benchmarks.papers.matching import recalled
from benchmarks.papers.runner import BenchRunner, Telling
from reenact.errors import AnswerUnusable, ReplayMiss
from reenact.intake.papers.library import Library
from reenact.intake.papers.paper import Paper, plain
from reenact.intake.papers.read import read_paper
from reenact.journal import Journal
from reenact.llm.ask import Usage
from reenact.llm.prices import price
from reenact.paper.claim import Claim
from reenact.paper.criterion import Value
from reenact.paper.measure.gap import Comparison, gap_of
from reenact.paper.measure.verdict import Verdict
from reenact.paper.pipeline import Services, reproduce
from reenact.paper.quantity import near
from reenact.paper.reproduction import Reproduction

PRICED_AS = "openai:o3-mini"
"""Whose prices AutoReproduce states its cost at."""


def tell_of(telling: Telling, desk: BenchRunner) -> CaseResult:
    """What came of it. A model that cannot answer leaves it inconclusive, as it does for a user."""
    begun = time.monotonic()
    case = telling.case
    # The folder's place is none of the story's business.
    paper = replace(read_paper(str(case.paper), box=desk.sandbox), source=case.id)
    try:
        with desk.journal_for(telling) as (journal, fresh):
            found = reproduce(
                paper, _services(telling, desk, journal, fresh), options=desk.wishes_for(telling)
            )
            told = _told(telling, found, paper, journal)
    except (AnswerUnusable, ReplayMiss) as error:
        why = f"{error.sentence} {error.next_step}".strip()
        told = CaseResult(case.id, telling.way.name, telling.run, Verdict.INCONCLUSIVE, why)
    return replace(told, seconds=time.monotonic() - begun)


def _services(telling: Telling, desk: BenchRunner, journal: Journal, fresh: bool) -> Services:
    folder = telling.case.library
    return Services(
        journal=journal,
        model=desk.model_for(telling),
        sandbox=desk.sandbox,
        cache=desk.cache,
        traces=desk.cache / "traces",
        environments=desk.environments,
        library=Library(folder) if folder is not None else None,
        tell=desk.tell,
        stop=desk.stop,
        fresh=fresh,
    )


def _told(telling: Telling, found: Reproduction, paper: Paper, journal: Journal) -> CaseResult:
    case = telling.case
    spent = journal.find(found.run_id)
    criteria = found.fingerprint.criteria
    return CaseResult(
        case=case.id,
        way=telling.way.name,
        run=telling.run,
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
        at_o3=price(Usage(spent.tokens_in, spent.tokens_out), PRICED_AS),
    )


def goal_gap(case: PaperCase, comparisons: Sequence[Comparison]) -> float:
    """Mean over the claims of the goal, against what the reference implementation measured."""
    return fmean(gap_of(_reference(case, one), _found(one, case, comparisons)) for one in case.wanted)


def goal_measured(case: PaperCase, comparisons: Sequence[Comparison]) -> float | None:
    """Of the number that the reference is of: the goal's method, the claim nearest to the reference."""
    own = [one for one in case.wanted if _same_name(one.method, case.goal.method)] or case.wanted
    nearest = min(own, key=lambda one: abs(one.value - case.reference.value))
    return _found(nearest, case, comparisons)


def _reference(case: PaperCase, claim: StatedClaim) -> float:
    """Unrounded where the goal asks for one number, as the paper rounds it where for several."""
    return case.reference.value if len(case.wanted) == 1 else claim.value


def _found(claim: StatedClaim, case: PaperCase, comparisons: Sequence[Comparison]) -> float | None:
    """What was measured of a claim. Where the paper's own numbers are not known, names alone decide."""
    fitting = (
        one.measured
        for one in comparisons
        if _same_name(one.claim.method, claim.method)
        and (near(one.claim.value, claim.value) if case.claims else _same_names(one.claim, claim))
    )
    return next((value for value in fitting if value is not None), None)


def _same_names(first: Claim, second: StatedClaim) -> bool:
    return _same_name(first.metric, second.metric) and _same_name(first.dataset, second.dataset)


def _same_name(first: str, second: str) -> bool:
    one, other = plain(first), plain(second)
    return bool(one) and bool(other) and (one in other or other in one)
