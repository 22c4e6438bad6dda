"""`python -m benchmarks trials`: trainings per second of the process pool, a plain loop and Ray Tune.

All have the same number of workers and one thread each. What is paid once is stated apart: the start of Ray's
cluster, and of our servers.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.scorecard import Scorecard
from benchmarks.speed import ways
from benchmarks.speed.card import scorecard
from benchmarks.speed.programs import Case, write_cases
from benchmarks.speed.ways import LOOP, POOL, TUNED, Rates
from reenact.errors import InputError
from reenact.trials.pool import ProcessPool
from reenact.types import Progress, Stop, Tell

TRIALS = 16
"""Trainings of each program by every way but the plain loop."""
LOOPS = 2
"""Trainings of each program by the plain loop, for each worker: they only cost time."""


def measure(
    *,
    tell: Tell,
    stop: Stop,
    trials: int = TRIALS,
    workers: int | None = None,
    programs: Sequence[str] = (),
    tune: bool = True,
) -> Scorecard:
    """Train every program (or those whose name holds one of the words in `programs`) in every way."""
    workers = workers or os.cpu_count() or 1
    before = os.getloadavg()
    with tempfile.TemporaryDirectory(prefix="reenact-speed-") as folder:
        known = write_cases(Path(folder))
        cases = [case for case in known if not programs or any(word in case.name for word in programs)]
        if not cases:
            names = ", ".join(case.name for case in known)
            raise InputError(f"Nothing to measure. Received: programs={list(programs)}; known: {names}.")
        found = _all_ways(cases, trials, workers, tune, tell, stop)
    load = (before, os.getloadavg())
    return scorecard(cases, found, workers=workers, whole=len(cases) == len(known), load=load)


def _all_ways(
    cases: Sequence[Case], trials: int, workers: int, tune: bool, tell: Tell, stop: Stop
) -> dict[str, Rates]:
    found: dict[str, Rates] = {}
    rates = found[POOL] = Rates()
    with ProcessPool(workers) as pool:
        _note(POOL, rates, ways.pooled(pool, cases, trials, rates, stop), len(cases), tell)
    rates = found[LOOP] = Rates(trials=min(trials, LOOPS * workers))
    _note(LOOP, rates, ways.plain_loop(cases, rates, workers, stop), len(cases), tell)
    if tune:
        tell(Progress(TUNED, 0, len(cases), f"{trials * len(cases)} trials"))
        tuned = ways.ray_tune(cases, trials, workers)
        if tuned is not None:
            found[TUNED] = tuned
    return found


def _note(way: str, rates: Rates, measured: Iterator[tuple[Case, float]], total: int, tell: Tell) -> None:
    tell(Progress(way, 0, total, ""))
    for done, (case, per_second) in enumerate(measured, 1):
        rates.per_second[case.name] = per_second
        tell(Progress(way, done, total, f"{case.name}: {per_second:.2f} a second"))
