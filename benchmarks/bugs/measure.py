"""`python -m benchmarks bugs`: every case with every variant, journalled, scored against the
truth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

from benchmarks.bugs.card import scorecard
from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.case_run import run_case
from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.queue import Queued
from benchmarks.bugs.runner import BenchRunner
from benchmarks.bugs.variant import WHOLE, Variant
from benchmarks.scorecard import Scorecard
from reenact.errors import InputError, Stopped
from reenact.types import Progress

CaseRun = tuple[BugCase, Variant]


def measure(
    cases: Sequence[BugCase],
    runner: BenchRunner,
    *,
    variants: Sequence[Variant] = (WHOLE,),
    jobs: int = 1,
) -> Scorecard:
    """Tell all cases that somebody answers. The same call after an interruption continues."""
    runner = replace(runner, sandbox=Queued(runner.sandbox)) if jobs > 1 else runner
    wanted = {
        f"{case.id}-{variant.key}": (case, variant)
        for variant in variants
        for case in cases
        if runner.answers(case, variant)
    }
    request = {
        "cases": [case.id for case in cases],
        "variants": [variant.name for variant in variants],
        "model": runner.model.name if runner.model is not None else None,
        "record": runner.record,
    }
    if runner.record and runner.fresh:
        for case, variant in wanted.values():
            runner.recording(case, variant).unlink(missing_ok=True)
    what = request["model"] or "recordings"
    with runner.journal.run(
        pipeline="bench-bugs", request=request, what=str(what), fresh=runner.fresh
    ) as run:
        found = run.many(
            {name: runner.inputs(*case_run) for name, case_run in wanted.items()},
            lambda names: _run_all({name: wanted[name] for name in names}, runner, jobs),
            returns=CaseResult,
        )
        run.finish({"results": len(found)})
    gone = [name for name, case_run in wanted.items() if not runner.recording(*case_run).exists()]
    if runner.record and gone:
        raise InputError(
            f"{gone[0]} was run before, but its recording is gone.",
            next_step="Record it again with --fresh.",
        )
    return scorecard(cases, variants, list(found.values()))


def _run_all(
    wanted: Mapping[str, CaseRun], runner: BenchRunner, jobs: int
) -> Iterator[Mapping[str, CaseResult]]:
    """One by one, or several at once: while one waits for its model, another may run."""
    if jobs == 1:
        for number, (name, (case, variant)) in enumerate(wanted.items()):
            _look(runner)
            runner.tell(Progress("bench bugs", number, len(wanted), name))
            yield {name: run_case(case, variant, runner)}
        return
    with ThreadPoolExecutor(jobs) as pool:
        futures = {
            pool.submit(run_case, case, variant, runner): name
            for name, (case, variant) in wanted.items()
        }
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                runner.tell(Progress("bench bugs", number, len(wanted), futures[future]))
                yield {futures[future]: future.result()}
        except BaseException:
            # Those that wait for an answer would wait for an hour.
            runner.stop.ask()
            pool.shutdown(cancel_futures=True)
            raise


def _look(runner: BenchRunner) -> None:
    if runner.stop.asked:
        raise Stopped("Stopped between two cases; the same command continues.")
