"""One case told one way: the story of `reenact bug`, and what it hands over judged on both revisions."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bugs.baseline import write_once
from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import REPORT, BugCase
from benchmarks.bugs.handed_over import exit_code
from benchmarks.bugs.oracle import SHOWS, SHOWS_NOT
from benchmarks.bugs.runner import BenchRunner
from benchmarks.bugs.way import Way
from reenact.bug.pipeline import Services, reproduce
from reenact.bug.reproduction import Verdict
from reenact.errors import AnswerUnusable, ReplayMiss
from reenact.intake.report import RawReport, read_report
from reenact.intake.repository import Checkout, open_repository


def tell_of(case: BugCase, way: Way, desk: BenchRunner) -> CaseResult:
    """What came of the case. A model that cannot answer leaves it inconclusive, as it does for a user."""
    begun = time.monotonic()
    # The name of the file holds the case's, which is none of the story's business.
    raw = replace(read_report(str(case.folder / REPORT)), source=REPORT)
    with TemporaryDirectory(prefix="reenact-bug-") as made:
        buggy, *fixed = (
            open_repository(str(case.bundle), one, into=Path(made), stop=desk.stop) for one in case.revisions
        )
        try:
            told = _told(case, way, desk, raw, buggy, fixed[0] if fixed and way.sees_fixed else None)
        except (AnswerUnusable, ReplayMiss) as error:
            why = f"{error.sentence} {error.next_step}".strip()
            told = CaseResult(case.id, way.name, Verdict.INCONCLUSIVE, why)
        told = _judged(told, case, desk, buggy, fixed[0] if fixed else None)
    told = replace(told, seconds=time.monotonic() - begun)
    return _believed(told) if way.baseline else told


def _judged(
    told: CaseResult, case: BugCase, desk: BenchRunner, buggy: Checkout, fixed: Checkout | None
) -> CaseResult:
    """With what its script exits with on both revisions, where the story has not run it there itself."""

    def code(known: int | None, checkout: Checkout | None) -> int | None:
        if known is not None or checkout is None or not told.script:
            return known if known in (None, SHOWS, SHOWS_NOT) else None
        return exit_code(told.script, case, checkout.folder, desk.sandbox, desk.stop)

    return replace(told, on_buggy=code(told.on_buggy, buggy), on_fixed=code(told.on_fixed, fixed))


def _told(
    case: BugCase, way: Way, desk: BenchRunner, raw: RawReport, buggy: Checkout, fixed: Checkout | None
) -> CaseResult:
    model = desk.model_for(case, way)
    with desk.journal_for(case, way) as (journal, fresh):
        if way.baseline:
            return write_once(case, way, raw, buggy, model, journal, fresh=fresh)
        services = Services(
            journal=journal, model=model, sandbox=desk.sandbox, environments=desk.environments,
            tell=desk.tell, stop=desk.stop, fresh=fresh,
        )  # fmt: skip
        found = reproduce(raw, buggy, services, fixed=fixed, options=way.wishes(desk.wishes))
    shown, seeds = found.seeds
    return CaseResult(
        case.id, way.name, found.verdict, found.reason, attempts=len(found.attempts), shown=shown,
        seeds=seeds, tokens=found.tokens, money=found.money, script=found.repro,
        on_buggy=found.exits.get("buggy"), on_fixed=found.exits.get("fixed"),
    )  # fmt: skip


def _believed(told: CaseResult) -> CaseResult:
    """A script that nobody checked: whoever runs it takes a failure for the bug, whatever it fails with."""
    if told.on_buggy is None:
        return told
    failed, failed_fixed = bool(told.on_buggy), told.on_fixed is not None and bool(told.on_fixed)
    fixed = None if told.on_fixed is None else int(failed_fixed)
    verdict = Verdict.REPRODUCED if failed else Verdict.NOT_REPRODUCED
    reason = "it fails where the bug was reported" if failed else "it runs through where the bug was reported"
    return replace(told, on_buggy=int(failed), on_fixed=fixed, verdict=verdict, reason=reason)
