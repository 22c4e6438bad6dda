"""`python -m benchmarks trials`: how long a training takes by each way to do many of them."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from reenact.cli.options import REPEATS, Amount, Count
from reenact.settings import resolve
from reenact.types import ExitCode


@click.command()
@click.option(
    "--trials",
    type=REPEATS,
    default=16,
    show_default=True,
    help="Trainings of each case.",
)
@click.option("--workers", type=Count(1, 1024), help="Trainings at once; default: one a core.")
@click.option(
    "--seconds",
    "lengths",
    multiple=True,
    type=Amount(0.1, 3600),
    default=(1.0, 10.0),
    show_default=True,
    help="How long one training takes; 60 and 600 are worth an evening.",
)
@click.option(
    "--framework",
    "frameworks",
    multiple=True,
    default=("torch", "keras"),
    show_default=True,
)
@click.option(
    "--way",
    "ways",
    multiple=True,
    help="Only these: pool, Optuna, plain loop, Ray Tune, ...",
)
@click.option(
    "--gpu",
    is_flag=True,
    help="Trials an hour on the card, packed and one after another.",
)
@click.option(
    "--parts",
    is_flag=True,
    help="Repairs with whole trainings, as installed, and with --prune.",
)
@out_folder
def trials(
    trials: int,
    workers: int | None,
    lengths: tuple[float, ...],
    frameworks: tuple[str, ...],
    ways: tuple[str, ...],
    gpu: bool,
    parts: bool,
    out: Path | None,
) -> ExitCode:
    """Train small programs by our executors, Ray Tune, Optuna and a plain loop; stopped, it
    continues.
    """
    if gpu:
        from benchmarks.speed.gpu import measure_gpu

        return conduct(lambda tell, stop: measure_gpu(tell=tell, stop=stop, workers=workers), out)
    folder = out or resolve().settings.runs_dir / "bench"
    if parts:
        from benchmarks.speed.parts import measure_parts

        return conduct(
            lambda tell, stop: measure_parts(
                tell=tell, stop=stop, outcomes=folder / "parts", workers=workers
            ),
            out,
        )
    from benchmarks.speed.measure import WAYS, measure

    kept = folder / "trials-cases.json"
    return conduct(
        lambda tell, stop: measure(
            tell=tell,
            stop=stop,
            kept=kept,
            trials=trials,
            workers=workers,
            lengths=lengths,
            frameworks=frameworks,
            ways=ways or tuple(WAYS),
        ),
        out,
    )
