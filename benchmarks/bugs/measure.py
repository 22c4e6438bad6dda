"""`python -m benchmarks bugs`: every case told every asked way, journalled, and scored against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

from benchmarks.bugs.card import scorecard
from benchmarks.bugs.case_result import CaseResult
from benchmarks.bugs.cases import BugCase
from benchmarks.bugs.queue import Queued
from benchmarks.bugs.runner import BenchRunner
from benchmarks.bugs.tell import tell_of
from benchmarks.bugs.way import WHOLE, Way
from benchmarks.scorecard import Scorecard
from reenact.errors import InputError, Stopped
from reenact.types import Progress

Telling = tuple[BugCase, Way]


def measure(
    cases: Sequence[BugCase], desk: BenchRunner, *, ways: Sequence[Way] = (WHOLE,), jobs: int = 1
) -> Scorecard:
    """Tell all cases that somebody answers. The same call after an interruption continues."""
    desk = replace(desk, sandbox=Queued(desk.sandbox)) if jobs > 1 else desk
    wanted = {
        f"{case.id}-{way.key}": (case, way) for way in ways for case in cases if desk.answers(case, way)
    }
    request = {
        "cases": [case.id for case in cases],
        "ways": [way.name for way in ways],
        "model": desk.model.name if desk.model is not None else None,
        "record": desk.record,
    }
    if desk.record and desk.fresh:
        for case, way in wanted.values():
            (case.folder / way.recording).unlink(missing_ok=True)
    what = request["model"] or "recordings"
    with desk.journal.run(pipeline="bench-bugs", request=request, what=str(what), fresh=desk.fresh) as run:
        found = run.many(
            {name: desk.inputs(*telling) for name, telling in wanted.items()},
            lambda names: _tell_all({name: wanted[name] for name in names}, desk, jobs),
            returns=CaseResult,
        )
        run.finish({"told": len(found)})
    gone = [name for name, (case, way) in wanted.items() if not (case.folder / way.recording).exists()]
    if desk.record and gone:
        raise InputError(
            f"{gone[0]} was told before, but its recording is gone.",
            next_step="Record it again with --fresh.",
        )
    return scorecard(cases, ways, list(found.values()))


def _tell_all(
    wanted: Mapping[str, Telling], desk: BenchRunner, jobs: int
) -> Iterator[Mapping[str, CaseResult]]:
    """One by one, or several at once: while one waits for its model, another may run."""
    if jobs == 1:
        for number, (name, (case, way)) in enumerate(wanted.items()):
            _look(desk)
            desk.tell(Progress("bench bugs", number, len(wanted), name))
            yield {name: tell_of(case, way, desk)}
        return
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(tell_of, case, way, desk): name for name, (case, way) in wanted.items()}
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                desk.tell(Progress("bench bugs", number, len(wanted), futures[future]))
                yield {futures[future]: future.result()}
        except BaseException:
            # Those that wait for an answer would wait for an hour.
            desk.stop.ask()
            pool.shutdown(cancel_futures=True)
            raise


def _look(desk: BenchRunner) -> None:
    if desk.stop.asked:
        raise Stopped("Stopped between two cases; the same command continues.")
