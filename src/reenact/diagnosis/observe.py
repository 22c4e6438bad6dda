"""Gather the evidence: read the program, watch one run, try the small experiments."""

from __future__ import annotations

import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from reenact.probe.experiment import run_experiments
from reenact.probe.options import WatchOptions
from reenact.probe.outcome import OutcomeKind
from reenact.probe.watch import Watched, watch
from reenact.program.program import Program
from reenact.program.static_graph import static_graph
from reenact.rules.evidence import Evidence
from reenact.rules.experiments import Experiments, experiments_from
from reenact.types import Stop

EXPERIMENT_SECONDS = 0.8
"""CPU time of each experiment."""
EXPERIMENT_WALL = 120.0
"""Most that the program may take on its way to the first step, in the process of the experiments."""


@dataclass(frozen=True, slots=True)
class ObserveOptions:
    """How to run the program for the evidence."""

    preset: str = "normal"
    python: str = ""
    training_time: float | None = None
    """Seconds after which the watched training is ended."""
    experiments: bool = True
    stdout: int | IO[bytes] | None = None
    """Where the program's own output goes; none: where ours goes."""


def read_only(program: Program) -> Evidence:
    """What the text alone tells."""
    return Evidence(program, static_graph(program))


def observe(
    program: Program, options: ObserveOptions, folder: Path, stop: Stop | None = None
) -> tuple[Watched, Experiments]:
    """One watched run, and beside it the small experiments in a process of their own."""
    watch_options = WatchOptions(
        folder,
        options.preset,
        python=options.python,
        max_time=options.training_time,
        interrupts=False,
        note_opened=True,
    )
    # Ends with us, and by itself once the watched run was ended for want of time.
    until = Stop(parent=stop)
    with ThreadPoolExecutor(1) as beside, tempfile.TemporaryDirectory(prefix="reenact-beside-") as scratch:
        tried = beside.submit(_experiments, program, options, Path(scratch) / "trace", until)
        try:
            seen = watch(program, watch_options, stdout=options.stdout, stop=stop)
        except BaseException:
            until.ask()
            raise
        if seen.outcome.kind is OutcomeKind.TIMEOUT:
            until.ask()
        return seen, tried.result()


def _experiments(program: Program, options: ObserveOptions, folder: Path, stop: Stop) -> Experiments:
    """One batch over and over, and a range of learning rates."""
    if not options.experiments:
        return Experiments()
    most = min(EXPERIMENT_WALL, options.training_time or EXPERIMENT_WALL)
    record = run_experiments(
        program, folder, python=options.python, max_time=most, seconds=EXPERIMENT_SECONDS, stop=stop
    )
    return experiments_from(record)
