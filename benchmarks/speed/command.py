"""`python -m benchmarks trials`: how many trainings a second."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from reenact.cli.options import REPEATS, Count
from reenact.types import ExitCode


@click.command()
@click.option("--trials", type=REPEATS, default=16, show_default=True, help="Trainings of each program.")
@click.option("--workers", type=Count(1, 1024), help="Trainings at once; default: one a core.")
@click.option("--program", "programs", multiple=True, help="Only programs whose name holds this word.")
@click.option("--tune/--no-tune", default=True, help="Compare with Ray Tune, when it is installed.")
@out_folder
def trials(
    trials: int, workers: int | None, programs: tuple[str, ...], tune: bool, out: Path | None
) -> ExitCode:
    """Train small programs by the process pool, a plain loop and Ray Tune, and compare trainings a second."""
    from benchmarks.speed.measure import measure

    return conduct(
        lambda tell, stop: measure(
            tell=tell, stop=stop, trials=trials, workers=workers, programs=programs, tune=tune
        ),
        out,
    )
