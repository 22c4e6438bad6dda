"""`python -m benchmarks papers`: every case in every variant, journalled, and scored against the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

from benchmarks.bugs.queue import Queued
from benchmarks.papers.card import scorecard
from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase
from benchmarks.papers.runner import BenchRunner, Telling
from benchmarks.papers.tell import tell_of
from benchmarks.papers.way import WHOLE, Way
from benchmarks.scorecard import Scorecard
from reenact.errors import InputError, Stopped
from reenact.types import Progress


def measure(
    cases: Sequence[PaperCase],
    desk: BenchRunner,
    *,
    ways: Sequence[Way] = (WHOLE,),
    runs: int = 1,
    jobs: int = 1,
) -> Scorecard:
    """Tell all cases that somebody answers. The same call after an interruption continues."""
    desk = replace(desk, sandbox=Queued(desk.sandbox)) if jobs > 1 else desk
    asked = [Telling(case, way, run) for way in ways for case in cases for run in range(runs)]
    wanted = {one.name: one for one in asked if desk.answers(one)}
    request = {
        "cases": [case.id for case in cases],
        "ways": [way.name for way in ways],
        "runs": runs,
        "model": desk.model.name if desk.model is not None else None,
        "record": desk.record,
    }
    if desk.record and desk.fresh:
        for telling in wanted.values():
            telling.recording.unlink(missing_ok=True)
    what = str(request["model"] or "recordings")
    with desk.journal.run(pipeline="bench-papers", request=request, what=what, fresh=desk.fresh) as run:
        found = run.many(
            {name: desk.inputs(telling) for name, telling in wanted.items()},
            lambda names: _tell_all({name: wanted[name] for name in names}, desk, jobs),
            returns=CaseResult,
        )
        run.finish({"told": len(found)})
    gone = [name for name, telling in wanted.items() if not telling.recording.exists()]
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
        for number, (name, telling) in enumerate(wanted.items()):
            if desk.stop.asked:
                raise Stopped("Stopped between two cases; the same command continues.")
            desk.tell(Progress("bench papers", number, len(wanted), name))
            yield {name: tell_of(telling, desk)}
        return
    with ThreadPoolExecutor(jobs) as pool:
        futures = {pool.submit(tell_of, telling, desk): name for name, telling in wanted.items()}
        try:
            for number, future in enumerate(as_completed(futures), start=1):
                desk.tell(Progress("bench papers", number, len(wanted), futures[future]))
                yield {futures[future]: future.result()}
        except BaseException:
            # Those that wait for an answer would wait for an hour.
            desk.stop.ask()
            pool.shutdown(cancel_futures=True)
            raise
