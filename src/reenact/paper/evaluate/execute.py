"""Runs of the code that is judged: what earlier ones left, and new ones, a seed each, in the sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reenact.errors import InputError, ModelRefused, ResultRefused
from reenact.files import read_bytes
from reenact.journal import Scope
from reenact.llm.ask import Answer, Request, T
from reenact.paper.develop.workshop import Workshop
from reenact.paper.measure.runs import FullRun, full_runs
from reenact.paper.project import ENTRY, Project
from reenact.paper.wishes import Wishes
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.files.strict_json import MOST_BYTES, read_json
from reenact.types import Stop, Tell, tell_nobody


@dataclass(frozen=True)
class Machine:
    """What code runs with."""

    sandbox: Sandbox
    environments: Environments | None = None
    data: Path | None = None
    """The user's folder of data, seen read-only at DATA_DIR."""
    wall_s: float = 3600.0
    tell: Tell = tell_nobody
    stop: Stop = field(default_factory=Stop)


class Nobody:
    """Runs need no model; whoever asks one all the same is told so."""

    name = "nobody"

    def ask(self, request: Request[T]) -> Answer[T]:
        raise ModelRefused(f"No model takes part in running code. Received: step={request.step}")


@dataclass(frozen=True, slots=True)
class Ended:
    """What one run measured, or why nothing."""

    value: float | None
    why: str = ""


def left_by(files: Sequence[Path], metric: str) -> tuple[Ended, ...]:
    """What runs left in their metrics files; a file that is not there is a run that failed."""
    return tuple(_left(file, metric) for file in files)


def executed_now(
    project: Project, machine: Machine, run: Scope, seeds: int, metric: str
) -> tuple[Ended, ...]:
    """A full run for each of so many seeds: `python train.py --seed N` must leave metrics.json."""
    if ENTRY not in project.files:
        raise InputError(
            f"The code has no {ENTRY}, so there is nothing to run.",
            next_step="Give it one that takes --seed N and leaves metrics.json, or name such files: --run.",
        )
    workshop = Workshop(
        model=Nobody(), sandbox=machine.sandbox, environments=machine.environments, tell=machine.tell,
        stop=machine.stop, wishes=Wishes(data=machine.data, run_wall_s=machine.wall_s, seeds=seeds),
    )  # fmt: skip
    return tuple(
        _ended(one, metric) for one in full_runs(project, workshop, run.under("execute"), range(seeds))
    )


def _ended(run: FullRun, metric: str) -> Ended:
    if not run.ok:
        return Ended(None, f"Seed {run.seed}: {run.why}")
    if metric not in run.metrics:
        return Ended(None, f"Seed {run.seed}: It left no {metric!r} among its metrics.")
    return Ended(run.metrics[metric])


def _left(file: Path, metric: str) -> Ended:
    try:
        told = read_json(read_bytes(file, MOST_BYTES))
    except (OSError, ResultRefused) as error:
        return Ended(None, f"{file} counts as a failed run: {error}")
    value = told.get(metric) if isinstance(told, dict) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Ended(None, f"{file} counts as a failed run: it holds no number called {metric!r}.")
    return Ended(float(value))
