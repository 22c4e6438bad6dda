"""Diagnose or repair every training of a split, one result each; stopped, the same command
continues.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Generic

from benchmarks.dataset.asked import REPLAY, Asked
from benchmarks.dataset.boxed import run_in_box
from benchmarks.dataset.checkout import why_not_there
from benchmarks.dataset.lock import program_digest
from benchmarks.dataset.own import run_here
from benchmarks.dataset.ran import Ran, read_answer
from benchmarks.dataset.result import (
    Outcome,
    Results,
    TrainingDiagnosis,
    TrainingRepair,
)
from benchmarks.dataset.training import Training
from benchmarks.identity import code_identity
from benchmarks.several import several
from reenact.errors import InputError
from reenact.types import JsonValue, Progress, Stop, Tell, tell_nobody

MODULES = {
    "hydra-core": "hydra",
    "optuna-integration": "optuna_integration",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
}
"""Packages whose module has another name."""
WHAT = "bench trainings"


@dataclass(frozen=True)
class OneRun(Generic[Outcome]):
    """A training to be diagnosed or repaired."""

    training: Training
    asked: Asked
    blank: Outcome
    """The result without its answer."""
    workers: int
    """Trainings at once in it."""


def diagnose_all(
    trainings: Sequence[Training],
    asked: Asked,
    kept: Path,
    *,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> list[TrainingDiagnosis]:
    """Every training that has no diagnosis yet; those that are known count as they are."""
    results = Results(kept, TrainingDiagnosis)
    return _run_all(trainings, asked, results, blank_diagnosis, tell=tell, stop=stop or Stop())


def repair_all(
    trainings: Sequence[Training],
    asked: Asked,
    kept: Path,
    *,
    tell: Tell = tell_nobody,
    stop: Stop | None = None,
) -> list[TrainingRepair]:
    """Every training that has no repair yet; those that are known count as they are."""
    results = Results(kept, TrainingRepair)
    return _run_all(trainings, asked, results, blank_repair, tell=tell, stop=stop or Stop())


def _run_all(
    trainings: Sequence[Training],
    asked: Asked,
    results: Results[Outcome],
    blank_of: Callable[[Training, Asked], Outcome],
    *,
    tell: Tell,
    stop: Stop,
) -> list[Outcome]:
    outcomes: dict[str, Outcome] = {}
    wanted: dict[str, OneRun[Outcome]] = {}
    workers = max(1, (os.cpu_count() or 1) // asked.jobs)
    for training in trainings:
        blank = blank_of(training, asked)
        known = results.get(blank)
        missing = why_not(training, asked)
        if known is not None:
            outcomes[training.id] = known
        elif missing:
            outcomes[training.id] = replace(blank, could_not_run=missing)
        else:
            wanted[training.id] = OneRun(training, asked, blank, workers)
    expected = sum(asked.expected_s(one.training) for one in wanted.values()) / 60 / asked.jobs
    tell(Progress(WHAT, 0, len(wanted), f"about {expected:.0f} minutes"))
    for done in several(wanted, run_one, what=WHAT, jobs=asked.jobs, tell=tell, stop=stop):
        for name, outcome in done.items():
            results.put(outcome)
            outcomes[name] = outcome
    return [outcomes[training.id] for training in trainings]


def run_one(one: OneRun[Outcome], stop: Stop) -> Outcome:
    """One training: in a box where nobody here wrote it."""
    return read_answer(_ran(one.training, one.asked, one.workers, stop), one.blank)


def _ran(training: Training, asked: Asked, workers: int, stop: Stop) -> Ran:
    seconds = asked.limit_s(training)
    recording = asked.recording(training)
    task: dict[str, JsonValue] = {
        "task": "repair" if asked.repair else "diagnose",
        "depth": asked.depth,
        "budget": asked.budget,
        "seeds": asked.seeds,
        "model": asked.model,
        "seconds": seconds,
        "workers": workers,
    }
    if training.foreign is None:
        return run_here(training, task, recording=recording, seconds=seconds, workers=workers)
    if asked.checkouts is None:
        raise InputError(
            "Foreign programs are in checkouts. Expected: the folder that holds their repositories."
        )
    return run_in_box(
        training,
        training.foreign,
        asked.checkouts,
        task,
        recording=recording,
        seconds=seconds,
        workers=workers,
        stop=stop,
    )


def why_not(training: Training, asked: Asked) -> str:
    """Why a training cannot be started here; empty when it can. Raises InputError."""
    missing = [name for name in training.needs if find_spec(MODULES.get(name, name)) is None]
    if missing:
        return f"packages: {', '.join(missing)}"
    if training.foreign is None:
        return ""
    if asked.model and not asked.model.startswith(REPLAY):
        raise InputError(
            f"The box of foreign programs has no network. Expected: {REPLAY}PATH. Received: "
            f"{asked.model}."
        )
    return why_not_there(training, training.foreign, asked.checkouts)


def blank_diagnosis(training: Training, asked: Asked) -> TrainingDiagnosis:
    """Which measurement it is, without its answer; an author's fix is no part of it."""
    started_as = start_of(training, asked, with_fix=False)
    return TrainingDiagnosis(training.id, asked.depth, code_identity("."), started_as, asked.model)


def blank_repair(training: Training, asked: Asked) -> TrainingRepair:
    """Which measurement it is, without its answer."""
    started_as = start_of(training, asked, with_fix=True)
    return TrainingRepair(
        training.id,
        asked.budget,
        asked.seeds,
        code_identity("."),
        started_as,
        asked.model,
    )


def start_of(training: Training, asked: Asked, *, with_fix: bool) -> str:
    """A hash over the program and how it is started; what is true of it is no part."""
    facts = asdict(training)
    for truth in ("fault", "sound", "what", "seen", "style", "twin", "seconds"):
        del facts[truth]
    if training.foreign is None:
        facts["files"] = program_digest(training.id)
    elif not with_fix:
        del facts["foreign"]["fixed"]
    recording = asked.recording(training)
    if recording is not None:
        facts["recording"] = hashlib.sha256(recording.read_bytes()).hexdigest()
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:16]
