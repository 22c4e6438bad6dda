"""`python -m benchmarks lint`: how long the static rules take over a hundred files."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from benchmarks.linting.measure import REPEATS, measure
from reenact.cli.options import Count
from reenact.types import ExitCode


@click.command()
@click.option(
    "--repeats",
    type=Count(1, 10_000),
    default=REPEATS,
    show_default=True,
    help="Runs of each command.",
)
@out_folder
def lint(repeats: int, out: Path | None) -> ExitCode:
    """Lint a hundred training programs, beside `ruff check` on the same files."""
    return conduct(lambda tell, stop: measure(tell=tell, stop=stop, repeats=repeats), out)
