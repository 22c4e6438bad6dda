"""The ways to train a program many times, each measured by the same clock, with one thread a
training.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from reenact.errors import Inconclusive, Stopped
from reenact.program.program import read_program
from reenact.trials.executor import Executor
from reenact.trials.job import ONE_THREAD
from reenact.trials.trial import Trial
from reenact.types import Stop

FOLDER = Path(__file__).parents[1] / "cases" / "speed"
MOST_SECONDS = 7200.0
ALONE = (
    os.environ
    | dict.fromkeys(ONE_THREAD, "1")
    | {"KERAS_BACKEND": "torch", "RAY_AIR_NEW_OUTPUT": "0"}
)
WIDTHS, DEPTHS = (16, 24, 32, 48, 64), (1, 2, 3)


@dataclass(frozen=True, slots=True)
class Case:
    """A framework and how long one training takes."""

    framework: str
    seconds: float
    steps: int = 0
    """That take so long here; 0 until it was measured."""

    @property
    def name(self) -> str:
        return f"{self.framework}, {self.seconds:g} s"

    @property
    def script(self) -> str:
        return f"train_{self.framework}.py"

    def lines(self, trials: int) -> list[list[str]]:
        """Command lines of trials that differ in seed and structure."""
        return [
            [
                self.script,
                "--steps",
                str(self.steps),
                "--seed",
                str(number),
                "--width",
                str(WIDTHS[number % len(WIDTHS)]),
                "--depth",
                str(DEPTHS[number % len(DEPTHS)]),
            ]
            for number in range(trials)
        ]


@dataclass(frozen=True, slots=True)
class Timed:
    """What was measured of one way."""

    trials: int
    start_s: float
    """Until the first training could begin: paid once."""
    seconds: float
    """From then to the end of the last."""

    @property
    def each(self) -> float:
        """Seconds a training, the start not counted."""
        return self.seconds / self.trials

    @property
    def cold(self) -> float:
        """Seconds a training, the start counted."""
        return (self.start_s + self.seconds) / self.trials


Way = Callable[[Case, int, int, Stop], "Timed | None"]


def plain_loop(case: Case, trials: int, workers: int, stop: Stop) -> Timed:
    """`python train.py`, as many at once as the other ways have workers."""

    def train(words: list[str]) -> None:
        if stop.asked:
            raise Stopped("The benchmark was stopped.")
        _ran([sys.executable, *words])

    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as threads:
        list(threads.map(train, case.lines(trials)))
    return Timed(trials, 0.0, time.perf_counter() - began)


def other(name: str) -> Way:
    """Ray Tune or Optuna, in a process of its own; none when it is not installed."""

    def timed(case: Case, trials: int, workers: int, _: Stop) -> Timed | None:
        words = [
            sys.executable,
            "others.py",
            name,
            str(workers),
            json.dumps(case.lines(trials)),
        ]
        found = json.loads(_ran(words).strip().splitlines()[-1])
        if "missing" in found:
            return None
        if found["ended"] != trials:
            raise Inconclusive(f"{name} trained {case.name} {found['ended']} of {trials} times.")
        return Timed(trials, float(found["start_s"]), float(found["seconds"]))

    return timed


def ours(make: Callable[[int], Executor]) -> Way:
    """One of our executors: its start is one training on every worker."""

    def timed(case: Case, trials: int, workers: int, stop: Stop) -> Timed:
        began = time.perf_counter()
        with make(workers) as executor:
            few = Case(case.framework, case.seconds, 25)
            executor.run(_trials(few, workers), stop=stop)
            start = time.perf_counter() - began
            found = executor.run(_trials(case, trials), stop=stop)
            seconds = time.perf_counter() - began - start
        if stop.asked:
            raise Stopped("The benchmark was stopped.")
        failed = [outcome for outcome in found if not outcome.trained]
        if failed:
            raise Inconclusive(
                f"{case.name}: {len(failed)} trials did not train ({failed[0].kind.value})."
            )
        return Timed(trials, start, seconds)

    return timed


def calibrated(case: Case) -> Case:
    """The case with the number of steps that take so many seconds of processor time here."""
    from reenact.trials.pool import ProcessPool

    few, many = (
        Case(case.framework, case.seconds, 50),
        Case(case.framework, case.seconds, 550),
    )
    with ProcessPool(1) as pool:
        pool.run(_trials(few, 1))
        short, long = (pool.run(_trials(one, 1))[0].cpu_seconds for one in (few, many))
    step = max(long - short, 1e-3) / 500
    return Case(case.framework, case.seconds, max(25, round(case.seconds / step)))


def _trials(case: Case, count: int) -> list[Trial]:
    return [
        Trial(read_program(words, FOLDER), seed=seed)
        for seed, words in enumerate(case.lines(count))
    ]


def _ran(words: Sequence[str]) -> str:
    ended = subprocess.run(  # noqa: S603 - a program of our own benchmark
        list(words),
        cwd=FOLDER,
        env=ALONE,
        capture_output=True,
        timeout=MOST_SECONDS,
        check=False,
    )
    if ended.returncode:
        raise Inconclusive(f"{' '.join(words)[:200]} failed: {ended.stderr.decode()[-300:]}")
    return ended.stdout.decode()
