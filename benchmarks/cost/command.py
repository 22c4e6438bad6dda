"""`python -m benchmarks cost`: what whole commands take as their input grows."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from benchmarks.cost.axes import AXES
from benchmarks.cost.books import measure_books
from benchmarks.cost.measure import Kept, measure
from reenact.cli.options import Count
from reenact.settings import resolve
from reenact.types import ExitCode


@click.command()
@click.option(
    "--axis",
    "names",
    multiple=True,
    type=click.Choice([axis.name for axis in AXES]),
    help="Only this one.",
)
@click.option("--whole", is_flag=True, help="A training of an hour too.")
@click.option("--books", is_flag=True, help="Only what the books add to trainings of a minute.")
@click.option(
    "--jobs",
    type=Count(1, 64),
    default=1,
    show_default=True,
    help="With --books: pairs at once; each trains with one thread.",
)
@out_folder
def cost(names: tuple[str, ...], whole: bool, books: bool, jobs: int, out: Path | None) -> ExitCode:
    """Seconds, processor time and memory as code, models, trainings, journals and papers grow.

    About half an hour on two cores, another one to one and a half with --whole; the same command
    continues. With --books: about 20 minutes, and 5 more where there is a GPU.
    """
    if books:
        return conduct(lambda tell, stop: measure_books(tell=tell, stop=stop, jobs=jobs), out)
    axes = [axis for axis in AXES if not names or axis.name in names]
    kept = Kept(resolve().settings.runs_dir / "bench" / "cost-points.jsonl")
    return conduct(
        lambda tell, stop: measure(axes, kept=kept, whole=whole, tell=tell, stop=stop),
        out,
    )
