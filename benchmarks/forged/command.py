"""`python -m benchmarks forged`: forged results and scripts, and honest ones, through the real
commands.
"""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from benchmarks.scorecard import Scorecard
from reenact.cli.options import Count
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Tell


@click.command()
@click.option(
    "--case",
    "names",
    multiple=True,
    metavar="ID",
    help="Only this case; may be repeated.",
)
@click.option("--jobs", type=Count(1, 64), default=1, show_default=True, help="Cases at once.")
@click.option("--fresh", is_flag=True, help="Run cases again that have a result.")
@out_folder
def forged(names: tuple[str, ...], jobs: int, fresh: bool, out: Path | None) -> ExitCode:
    """Forge papers and bugs: none may be believed, and honest ones keep their verdicts.

    Each case is `reenact paper` or `reenact bug` with recorded answers, in a folder of its own.
    Continues where it was stopped. Exit code 0: no forgery believed and every honest control kept.
    """
    from benchmarks.forged.card import scorecard
    from benchmarks.forged.case import catalogue
    from benchmarks.forged.measure import measure_all, results_file

    cases = catalogue(names)
    file = results_file(resolve().settings.runs_dir / "bench" / "forged")

    def measure(tell: Tell, stop: Stop) -> Scorecard:
        results = measure_all(cases, file, jobs=jobs, fresh=fresh, tell=tell, stop=stop)
        return scorecard(cases, results, whole=not names)

    return conduct(measure, out)
