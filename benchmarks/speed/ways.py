"""The ways to train a program many times, each measured by the same clock."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from benchmarks.faults.programs import ENTRY
from benchmarks.speed.programs import Case
from reenact.errors import Inconclusive, Stopped
from reenact.trials.job import ONE_THREAD
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Trial
from reenact.types import Stop

TUNE = Path(__file__).parents[1] / "cases" / "speed" / "tune.py"
LOOP, TUNED = "plain loop", "Ray Tune"
POOL = "pool"
WAYS = (LOOP, TUNED, POOL)
MOST_SECONDS = 1800.0
ALONE = dict.fromkeys(ONE_THREAD, "1")


@dataclass(slots=True)
class Rates:
    """What was measured of one way."""

    per_second: dict[str, float] = field(default_factory=dict)
    """Trainings a second, by program."""
    cpu_s: dict[str, float] = field(default_factory=dict)
    """Seconds of processor time a training, by program, where known: free of the machine's load."""
    start_s: float = 0.0
    """Until the first trial could begin (of Ray Tune: its cluster, and what a tuner takes); no part of the
    rates."""
    trials: int = 0


def _checked(stop: Stop) -> None:
    if stop.asked:
        raise Stopped("The benchmark was stopped.")


def plain_loop(cases: Sequence[Case], rates: Rates, workers: int, stop: Stop) -> Iterator[tuple[Case, float]]:
    """`python train.py`, as many at once as the other ways have workers: trainings a second."""

    def train(case: Case) -> None:
        _checked(stop)
        command = [sys.executable, ENTRY]
        ended = subprocess.run(  # noqa: S603 - a program of our own benchmark
            command,
            cwd=case.folder,
            env=os.environ | ALONE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=MOST_SECONDS,
            check=False,
        )
        if ended.returncode:
            raise Inconclusive(f"{case.name} failed by itself: {ended.stderr.decode()[-200:]}")

    for case in cases:
        began, used = time.perf_counter(), _children_cpu()
        with ThreadPoolExecutor(workers) as threads:
            list(threads.map(train, [case] * rates.trials))
        rates.cpu_s[case.name] = (_children_cpu() - used) / rates.trials
        yield case, rates.trials / (time.perf_counter() - began)


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def pooled(
    pool: ProcessPool, cases: Sequence[Case], trials: int, rates: Rates, stop: Stop
) -> Iterator[tuple[Case, float]]:
    """Our pool, its servers warm: trainings a second."""
    rates.start_s = _warm(pool, cases, stop)
    rates.trials = trials
    for case in cases:
        program = case.program
        began = time.perf_counter()
        found = pool.run([Trial(program, seed=seed) for seed in range(trials)], stop=stop)
        seconds = time.perf_counter() - began
        _checked(stop)
        failed = [outcome for outcome in found if not outcome.trained]
        if failed:
            raise Inconclusive(f"{case.name}: {len(failed)} trials did not train ({failed[0].kind.value}).")
        rates.cpu_s[case.name] = fmean(outcome.cpu_seconds for outcome in found)
        yield case, trials / seconds


def _warm(pool: ProcessPool, cases: Sequence[Case], stop: Stop) -> float:
    """Start every server and let it import what the programs import."""
    began = time.perf_counter()
    for case in (cases[-1], cases[0]):
        pool.run([Trial(case.program, seed=seed) for seed in range(pool.workers)], stop=stop)
    return time.perf_counter() - began


def ray_tune(cases: Sequence[Case], trials: int, workers: int) -> Rates | None:
    """Ray Tune in a process of its own; none when it is not installed."""
    folders = [str(case.folder) for case in cases]
    ended = subprocess.run(  # noqa: S603 - a script of our own
        [sys.executable, str(TUNE), str(trials), str(workers), *folders],
        env=os.environ | ALONE | {"RAY_AIR_NEW_OUTPUT": "0", "KERAS_BACKEND": "torch"},
        capture_output=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    if ended.returncode:
        raise Inconclusive(f"Ray Tune failed: {ended.stderr.decode()[-300:]}")
    found = json.loads(ended.stdout.decode().strip().splitlines()[-1])
    if "missing" in found:
        return None
    first = fmean(map(float, found["first_s"].values()))
    rates = Rates(start_s=float(found["start_s"]) + first, trials=trials)
    for case, folder in zip(cases, folders, strict=True):
        if found["ended"][folder] != trials:
            raise Inconclusive(f"Ray Tune trained {case.name} {found['ended'][folder]} of {trials} times.")
        rates.per_second[case.name] = trials / float(found["seconds"][folder])
    return rates
