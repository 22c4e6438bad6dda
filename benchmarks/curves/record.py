"""`python -m benchmarks curves --record`: faulty programs and changes of them, trained to their
end.

Each process trains one program after another, with a fork server of its own; a program is written
down when all its trainings are done: stopped, the same command continues.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.curves.kept import (
    KeptChange,
    KeptStart,
    KeptTraining,
    append,
    read_kept,
    thinned,
)
from benchmarks.curves.plan import Start, groups, starts_of
from benchmarks.several import several
from reenact.errors import InputError
from reenact.probe.outcome import OutcomeKind
from reenact.trials.hopeless import steps_factor, touches_loss, watched_metric
from reenact.trials.metric import STEP_LOSS, Measure, choose_measure
from reenact.trials.pool import ProcessPool
from reenact.trials.trainer import PASSING
from reenact.trials.trial import Outcome, Trial, TrialLimits
from reenact.types import Stop, Tell

BASE_SEEDS, CHANGE_SEEDS = (11, 12, 13), (11, 12)
"""As a search has them: a change is trained with the seeds of the program as it stands."""
SECONDS = 300.0
"""For one training; on a quiet machine none takes a fifth of it."""
CUT_SHORT = PASSING | {OutcomeKind.TIMEOUT}
"""Endings that the machine may have caused: such a training is not whole."""


@dataclass(frozen=True, slots=True)
class RecordTask:
    """One program, until a moment."""

    group: str
    until: float
    """Of `time.time`."""
    known: frozenset[str]
    """Names of what is recorded already."""


def record(
    file: Path,
    *,
    programs: Sequence[str] = (),
    jobs: int,
    minutes: float,
    tell: Tell,
    stop: Stop,
) -> list[KeptStart]:
    """Every program whose curves are not in the file yet, as long as there is time; all that are
    kept. `programs`: only those whose name holds one of these words.
    """
    known = frozenset(start.name for start in read_kept(file))
    until = time.time() + 60 * minutes
    chosen = [name for name in groups() if not programs or any(word in name for word in programs)]
    wanted = {group: RecordTask(group, until, known) for group in chosen}
    for made in several(wanted, record_program, what="curves", jobs=jobs, tell=tell, stop=stop):
        for found in made.values():
            append(file, found)
    return read_kept(file)


def record_program(task: RecordTask, stop: Stop) -> list[KeptStart]:
    """All that is made of one program and not known; what is not done when the time is up is
    left out.
    """
    left = task.until - time.time()
    if left <= 0:
        return []
    within = Stop(left, parent=stop)
    found: list[KeptStart] = []
    with tempfile.TemporaryDirectory(prefix="reenact-curves-") as scratch:
        for start in starts_of(task.group, Path(scratch)):
            made = (
                _recorded(start, within)
                if start.name not in task.known and not within.asked
                else None
            )
            if made is not None and not within.asked:
                found.append(made)
    return found


@cache
def _pool() -> ProcessPool:
    """Of this process; its servers end with it."""
    return ProcessPool(1)


def _recorded(start: Start, stop: Stop) -> KeptStart | None:
    """None where the faulty program trains with none of the seeds or was cut short, or nothing
    judges it. Changes that were cut short are left out.
    """
    limits = TrialLimits(seconds=SECONDS)
    base = _pool().run(
        [Trial(start.program, seed=seed, limits=limits) for seed in BASE_SEEDS],
        stop=stop,
    )
    trained = [one for one in base if one.trained] if _are_whole(base) else []
    try:
        measure = choose_measure(trained[0]) if trained else None
    except InputError:
        measure = None
    if measure is None:
        return None
    watched = watched_metric(trained[0], measure)
    changes = []
    for patch in start.changes:
        trials = [Trial(start.program, patch, seed, limits) for seed in CHANGE_SEEDS]
        outcomes = _pool().run(trials, stop=stop)
        if _are_whole(outcomes):
            kept = _kept(CHANGE_SEEDS, outcomes, measure, watched)
            factor = steps_factor(start.program, patch)
            changes.append(KeptChange(str(patch), factor, touches_loss(patch), kept))
    bounded = measure.larger_is_better and "r2" not in measure.name
    return KeptStart(
        start.name,
        start.group,
        measure.name,
        bounded,
        watched,
        measure.larger_is_better,
        _kept(BASE_SEEDS, base, measure, watched),
        tuple(changes),
    )


def _are_whole(outcomes: Sequence[Outcome]) -> bool:
    return all(one.kind not in CUT_SHORT for one in outcomes)


def _kept(
    seeds: Sequence[int], outcomes: Sequence[Outcome], measure: Measure, watched: str
) -> tuple[KeptTraining, ...]:
    found = []
    for seed, one in zip(seeds, outcomes, strict=True):
        score = measure.score(one)
        found.append(
            KeptTraining(
                seed,
                one.steps,
                round(one.cpu_seconds, 2),
                score if math.isfinite(score) else None,
                thinned(one.curve(watched)),
                thinned(one.curve(STEP_LOSS)),
            )
        )
    return tuple(found)
