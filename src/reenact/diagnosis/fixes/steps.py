"""Trying the fixes of a diagnosis, as a step of its run."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial

from reenact.diagnosis.fixes.scratch import Scratch
from reenact.diagnosis.fixes.text import TextCheck
from reenact.diagnosis.fixes.tried import (
    ALL_SECONDS,
    Judged,
    Wanted,
    length_for,
    try_edits,
    with_fixes,
)
from reenact.diagnosis.judge import judging, spoken_by
from reenact.diagnosis.options import DiagnoseOptions
from reenact.diagnosis.services import DiagnoseServices
from reenact.faults.agreement import FindingKey
from reenact.faults.evidence import Evidence
from reenact.faults.finding import Finding
from reenact.journal import Kind, Scope
from reenact.probe.clock import contention
from reenact.probe.surroundings import training_mark
from reenact.trials.executor import Executor
from reenact.trials.trial import Trial
from reenact.types import Progress, Stop


def fixes_of(
    findings: Sequence[Finding],
    evidence: Evidence,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
    executor: Executor | None,
) -> dict[FindingKey, Finding]:
    """Those findings that have an edit, with what became of it. They are given in the order in which
    they are listed.
    """
    program = evidence.program
    if program is None or not options.depth.runs:
        return {}
    check = TextCheck(program, judging(options))

    def judge(wanted: Wanted) -> Sequence[Judged]:
        services.tell(Progress("diagnose", 3, 5, f"try {len(wanted)} of the fixes"))
        return _tried(wanted, check, evidence, options, services, run, executor)

    return with_fixes(findings, check, judge)


def _tried(
    wanted: Wanted,
    check: TextCheck,
    evidence: Evidence,
    options: DiagnoseOptions,
    services: DiagnoseServices,
    run: Scope,
    executor: Executor | None,
) -> Sequence[Judged]:
    """What running the edits shows, made once in a run."""
    busy = contention()

    def effect() -> tuple[Judged, ...]:
        with ExitStack() as stack:
            how = (options.workers, options.python, options.executor, options.data)
            scratch = Scratch(
                evidence,
                executor or stack.enter_context(services.open_executor(*how)),
                partial(spoken_by, options),
                length_for(evidence, busy),
                Stop(ALL_SECONDS * busy, parent=services.stop),
                services.answers.text,
            )
            return tuple(try_edits(wanted, check, scratch))

    inputs = {
        "program": Trial(check.program).key,
        "edits": {finding.code: [one.to_text() for one in edits] for finding, edits in wanted},
        "around": training_mark(check.program, options.python, evidence.opened),
    }
    return run.step("fixes", effect, kind=Kind.TRIAL, inputs=inputs, returns=tuple[Judged, ...])
