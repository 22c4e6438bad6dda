"""`reenact bench trials`: how many trainings a second."""

from __future__ import annotations

from pathlib import Path

import click

from reenact.cli.bench import conduct, out_folder
from reenact.types import ExitCode


@click.command()
@click.option(
    "--trials", type=click.IntRange(min=1), default=16, show_default=True, help="Trainings of each program."
)
@click.option("--workers", type=click.IntRange(min=1), help="Trainings at once; default: one a core.")
@click.option("--program", "programs", multiple=True, help="Only programs whose name holds this word.")
@click.option("--tune/--no-tune", default=True, help="Compare with Ray Tune, when it is installed.")
@out_folder
def trials(
    trials: int, workers: int | None, programs: tuple[str, ...], tune: bool, out: Path | None
) -> ExitCode:
    """Train small programs by each executor, a plain loop and Ray Tune, and compare trainings a second."""
    from reenact.bench.speed.measure import measure

    return conduct(
        lambda tell, stop: measure(
            tell=tell, stop=stop, trials=trials, workers=workers, programs=programs, tune=tune
        ),
        out,
    )
