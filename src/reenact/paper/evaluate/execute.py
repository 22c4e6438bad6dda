"""Runs of the code that is judged, execution rate and performance gap over many of them.

Runs are what earlier ones left, and new ones, a seed each, in the sandbox. The gap of one run is
|reference - measured| / max(reference, measured) (AutoReproduce, equation 1); a run that did not execute has
the gap 1. Several runs of one paper are averaged first, so that a paper that was tried more often counts no
more than another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

from reenact.codegen.project import ENTRY, Project
from reenact.errors import InputError, ResultRefused, ended_by
from reenact.files import read_bytes
from reenact.journal import Scope
from reenact.paper.context import project_runner
from reenact.paper.measure.gap import gap_of
from reenact.paper.measure.runs import FullRun, full_runs
from reenact.paper.options import PaperOptions
from reenact.sandbox.box import Sandbox
from reenact.sandbox.environments.prepare import Environments
from reenact.sandbox.files.strict_json import MOST_BYTES, read_json
from reenact.types import Progress, Stop, Tell, tell_nobody


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

    def say(self, note: str) -> None:
        """Tell the user what happens; stop here when that was asked for."""
        if self.stop.asked:
            raise ended_by(self.stop, "Stopped between two steps.")
        self.tell(Progress("paper", note=note))


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
    runner = project_runner(
        PaperOptions(data=machine.data),
        machine.sandbox,
        environments=machine.environments,
        stop=machine.stop,
    )
    runs = full_runs(
        project, runner, run.under("execute"), range(seeds), wall_s=machine.wall_s, say=machine.say
    )
    return tuple(_ended(one, metric) for one in runs)


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


@dataclass(frozen=True, slots=True)
class Executed:
    """One run of generated code for one paper."""

    paper: str
    reference: float
    """What the reference implementation reaches."""
    measured: float | None
    """What the run measured; none when it did not execute, or left no such metric."""

    @property
    def gap(self) -> float | None:
        """None when there is nothing to compare."""
        return None if self.measured is None else gap_of(self.reference, self.measured)


@dataclass(frozen=True, slots=True)
class ExecutedScore:
    """The Exec-Score of AutoReproduce."""

    papers: int
    runs: int
    rate: float
    """Share of runs that executed, the mean over papers."""
    gap: float
    """Mean gap over all runs, a failure as 1."""
    gap_executed: float | None
    """Mean gap over the runs that executed; none without one."""


def executed_score(runs: Sequence[Executed]) -> ExecutedScore | None:
    """Means over papers of means over their runs; none without a run."""
    if not runs:
        return None
    by_paper: dict[str, list[Executed]] = {}
    for run in runs:
        by_paper.setdefault(run.paper, []).append(run)
    executed = [[run.gap for run in ones if run.gap is not None] for ones in by_paper.values()]
    told = [fmean(gaps) for gaps in executed if gaps]
    return ExecutedScore(
        papers=len(by_paper),
        runs=len(runs),
        rate=fmean(fmean(run.measured is not None for run in ones) for ones in by_paper.values()),
        gap=fmean(fmean(1.0 if run.gap is None else run.gap for run in ones) for ones in by_paper.values()),
        gap_executed=fmean(told) if told else None,
    )
