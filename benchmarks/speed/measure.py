"""`python -m benchmarks trials`: seconds a training by our executors, Ray Tune, Optuna and a plain
loop.

All have the same number of workers and one thread a training; trials differ in seed and structure.
Each case (framework, length of a training, way) is written down when it is done: stopped, it
continues there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.scorecard import Scorecard
from benchmarks.speed.card import scorecard
from benchmarks.speed.ways import Case, Timed, Way, calibrated, other, ours, plain_loop
from reenact.errors import Inconclusive, MissingExtra
from reenact.trials.executor import Executor
from reenact.types import Progress, Stop, Tell

FRAMEWORKS = ("torch", "keras")
LENGTHS = (1.0, 10.0)


def _pool(workers: int) -> Executor:
    from reenact.trials.pool import ProcessPool

    return ProcessPool(workers)


def _ray(workers: int) -> Executor:
    from reenact.trials.ray import RayExecutor

    return RayExecutor(workers=workers)


LOOP, TUNE, TUNE_WARM, OPTUNA, POOL, RAY = (
    "plain loop",
    "Ray Tune",
    "Ray Tune, reused",
    "Optuna",
    "pool",
    "our Ray",
)
WAYS: Mapping[str, Way] = {
    POOL: ours(_pool),
    OPTUNA: other("optuna"),
    LOOP: plain_loop,
    TUNE_WARM: other("tune-warm"),
    RAY: ours(_ray),
    TUNE: other("tune"),
}


def measure(
    *,
    tell: Tell,
    stop: Stop,
    kept: Path,
    trials: int = 16,
    workers: int | None = None,
    lengths: Sequence[float] = LENGTHS,
    frameworks: Sequence[str] = FRAMEWORKS,
    ways: Sequence[str] = tuple(WAYS),
) -> Scorecard:
    """Every case that is not in the file `kept` yet."""
    workers = workers or os.cpu_count() or 1
    results = _Results(kept, {"trials": trials, "workers": workers})
    cases = [Case(framework, length) for length in lengths for framework in frameworks]
    done, total = 0, len(cases) * len(ways)
    for case in cases:
        for way in ways:
            done += 1
            if results.get(case, way) is None and not stop.asked:
                tell(Progress("trials", done, total, f"{case.name}, {way}"))
                ready = results.ready(case)
                results.put(ready, way, _timed(way, ready, trials, workers, stop))
    found = {case.name: {way: results.get(case, way) for way in ways} for case in cases}
    timed = {name: {way: one for way, one in row.items() if one} for name, row in found.items()}
    return scorecard(timed, workers, ways)


def _timed(way: str, case: Case, trials: int, workers: int, stop: Stop) -> Timed | None:
    """None where what the way needs is not installed."""
    try:
        return WAYS[way](case, trials, workers, stop)
    except MissingExtra:
        return None


class _Results:
    """A JSON file: one entry a case."""

    def __init__(self, file: Path, how: Mapping[str, int]) -> None:
        self.file = file
        self.kept: dict[str, Any] = (
            json.loads(file.read_text(encoding="utf-8"))
            if file.is_file()
            else {"how": how, "steps": {}}
        )
        if self.kept["how"] != dict(how):
            raise Inconclusive(
                (
                    f"{file} holds results of other numbers: {self.kept['how']}. Received: "
                    f"{dict(how)}."
                ),
                next_step="Remove the file, or name another folder with --out.",
            )

    def ready(self, case: Case) -> Case:
        """The case with its number of steps, which is measured once."""
        if case.name not in self.kept["steps"]:
            self.kept["steps"][case.name] = calibrated(case).steps
        return Case(case.framework, case.seconds, int(self.kept["steps"][case.name]))

    def get(self, case: Case, way: str) -> Timed | None:
        facts = self.kept.get(f"{case.name} / {way}")
        return Timed(**facts) if facts else None

    def put(self, case: Case, way: str, timed: Timed | None) -> None:
        self.kept[f"{case.name} / {way}"] = asdict(timed) if timed is not None else None
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(json.dumps(self.kept, indent=1) + "\n", encoding="utf-8")
