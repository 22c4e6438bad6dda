"""One case, one variant: `reenact bug` is run, and what it hands over is judged on both
revisions.
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bugs.baseline import write_once
from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import REPORT, BugCase
from benchmarks.bugs.handed_over import code_here, in_own_suite, judged_code
from benchmarks.bugs.oracle import COULD_NOT_RUN, SHOWS, SHOWS_NOT
from benchmarks.bugs.runner import BenchRunner
from benchmarks.bugs.variant import Variant
from reenact.bug.environment import prepare
from reenact.bug.pipeline import reproduce
from reenact.bug.project_files import project_files
from reenact.bug.report import Installed
from reenact.bug.reproduction import Verdict
from reenact.bug.script_runner import OUTPUT_MIB, REPOSITORY, Revision, ScriptRunner
from reenact.bug.services import BugServices
from reenact.codegen.runner import ProjectRunner
from reenact.errors import (
    AnswerUnusable,
    Inconclusive,
    ReplayMiss,
    Unreachable,
    UnreadableRepository,
)
from reenact.intake.report import RawReport, read_report
from reenact.intake.repository import Checkout, open_repository
from reenact.llm.ask import Model
from reenact.llm.recording import Replay


def run_case(case: BugCase, variant: Variant, runner: BenchRunner) -> CaseResult:
    """What came of the case. A model that cannot answer leaves it inconclusive, as it does for
    a user.
    """
    begun = time.monotonic()
    # The name of the file holds the case's, which is none of the pipeline's business.
    raw = replace(read_report(case.report_source), source=REPORT)
    model = runner.model_for(case, variant)
    with TemporaryDirectory(prefix="reenact-bug-") as made:
        buggy, *fixed = _checkouts(case, Path(made), runner)
        given = fixed[0] if fixed and variant.sees_fixed else None
        try:
            result = _result(case, variant, runner, model, raw, buggy, given)
        except (AnswerUnusable, ReplayMiss) as error:
            why = f"{error.sentence} {error.next_step}".strip()
            result = CaseResult(case.id, variant.name, Verdict.INCONCLUSIVE, why)
        if case.is_foreign:
            result = _judged_abroad(result, runner, raw, buggy, fixed[0])
        else:
            result = _judged(result, case, runner, buggy, fixed[0] if case.fixed else None)
    other = model.earlier if isinstance(model, Replay) else 0
    result = replace(result, seconds=time.monotonic() - begun, other_words=other)
    return _believed(result) if variant.baseline else result


def _checkouts(case: BugCase, into: Path, runner: BenchRunner) -> list[Checkout]:
    """The buggy revision and the one that is given as its fix. Inconclusive where they cannot
    be had.
    """
    revisions = (case.buggy, *filter(None, [case.given_fix]))
    try:
        return [open_repository(case.source, one, into=into, stop=runner.stop) for one in revisions]
    except (Unreachable, UnreadableRepository) as error:
        raise Inconclusive(
            f"{case.project} cannot be had: {error.sentence}", next_step=error.next_step
        ) from error


def _judged(
    result: CaseResult,
    case: BugCase,
    runner: BenchRunner,
    buggy: Checkout,
    fixed: Checkout | None,
) -> CaseResult:
    """With what its script exits with on both revisions, where the pipeline has not run it
    there itself.
    """

    def code(known: int | None, checkout: Checkout | None) -> int | None:
        if known is not None or checkout is None or not result.script:
            return known if known in (None, SHOWS, SHOWS_NOT) else None
        return code_here(result, case, checkout.folder, runner.sandbox, runner.stop)

    return replace(
        result,
        on_buggy=code(result.on_buggy, buggy),
        on_fixed=code(result.on_fixed, fixed),
    )


def _judged_abroad(
    result: CaseResult,
    runner: BenchRunner,
    raw: RawReport,
    buggy: Checkout,
    fixed: Checkout,
) -> CaseResult:
    """The same for a repository that nobody here wrote: with what it declares installed."""
    if not result.script:
        return result
    revisions = [Revision(one.commit, project_files(one.folder), one.day) for one in (buggy, fixed)]
    created = raw.created.date() if raw.created is not None else buggy.day
    reported = [Installed(package=package, version=version) for package, version in result.reported]
    build = partial(
        prepare, revisions[0].files, reported, created, runner.options, runner.environments
    )
    environment = build()
    boxes = ProjectRunner(
        runner.sandbox,
        runner.options.wall_s,
        runner.options.memory_mib,
        OUTPUT_MIB,
        stop=runner.stop,
    )
    judge = ScriptRunner(boxes, environment, rebuild=build)
    codes = [result.on_buggy, result.on_fixed]
    for nth, revision in enumerate(revisions):
        if codes[nth] is None and result.facts:
            codes[nth] = judged_code(result, revision, judge)
        elif codes[nth] is None:
            code = judge.exit_code(_on_path(result.script, revision), revision)
            codes[nth] = None if code == COULD_NOT_RUN else code
    suite = in_own_suite(result.test, revisions, judge) if result.test else ""
    return replace(result, on_buggy=codes[0], on_fixed=codes[1], in_suite=suite)


def _on_path(script: str, revision: Revision) -> str:
    """A script that finds the project wherever it lies."""
    roots = [f"{REPOSITORY}/{root}" for root in revision.files.roots]
    return (
        f"import sys\n\nsys.path[:0] = {roots!r}\nexec(compile({script!r}, 'script.py', 'exec'))\n"
    )


def _result(
    case: BugCase,
    variant: Variant,
    runner: BenchRunner,
    model: Model,
    raw: RawReport,
    buggy: Checkout,
    fixed: Checkout | None,
) -> CaseResult:
    with runner.journal_for(case, variant) as (journal, fresh):
        if variant.baseline:
            return write_once(case, variant, raw, buggy, model, journal, fresh=fresh)
        services = BugServices(
            journal=journal,
            model=model,
            sandbox=runner.sandbox,
            environments=runner.environments,
            tell=runner.tell,
            stop=runner.stop,
            fresh=fresh,
        )
        found = reproduce(
            raw, buggy, services, fixed=fixed, options=variant.options(runner.options)
        )
    return CaseResult(
        case.id,
        variant.name,
        found.verdict,
        found.reason,
        attempts=len(found.attempts),
        shown=found.seeds_shown,
        seeds=found.seeds_run,
        tokens=found.tokens,
        money=found.money,
        own_s=found.own_s,
        requests=found.requests,
        script=found.repro,
        test=found.test,
        facts=found.facts,
        on_buggy=found.exits.get("buggy"),
        on_fixed=found.exits.get("fixed"),
        reported=tuple((one.package, one.version) for one in found.report.environment)
        if found.report is not None
        else (),
    )


def _believed(result: CaseResult) -> CaseResult:
    """A script that nobody checked: whoever runs it takes a failure for the bug, whatever it
    fails with.
    """
    if result.on_buggy is None:
        return result
    failed, failed_fixed = (
        bool(result.on_buggy),
        result.on_fixed is not None and bool(result.on_fixed),
    )
    fixed = None if result.on_fixed is None else int(failed_fixed)
    verdict = Verdict.REPRODUCED if failed else Verdict.NOT_REPRODUCED
    reason = (
        "it fails where the bug was reported"
        if failed
        else "it runs through where the bug was reported"
    )
    return replace(result, on_buggy=int(failed), on_fixed=fixed, verdict=verdict, reason=reason)
