"""`python -m benchmarks modern`: trainings of today, faulty and sound, against what is true of them."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from benchmarks.modern.case import Half
from benchmarks.scorecard import Scorecard
from reenact.cli.options import Count
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Tell


@click.command()
@click.option(
    "--half",
    type=click.Choice([half.value for half in Half]),
    default="confirm",
    show_default=True,
)
@click.option("--depth", type=click.Choice(["quick", "normal"]), default="quick", show_default=True)
@click.option("--only", multiple=True, metavar="ID", help="Only this program of the half; may be repeated.")
@click.option("--kind", type=click.Choice(["faulty", "sound"]), help="Only these programs; default: both.")
@click.option(
    "--limit-minutes", type=click.FloatRange(0.1, 600), default=5, help="Most minutes for one program."
)
@click.option("--jobs", type=Count(1, 1024), default=1, show_default=True, help="Programs at once.")
@click.option("--others", is_flag=True, help="Not reenact but other tools that are installed, on the same.")
@out_folder
def modern(
    half: str,
    depth: str,
    only: tuple[str, ...],
    kind: str | None,
    limit_minutes: float,
    jobs: int,
    others: bool,
    out: Path | None,
) -> ExitCode:
    """Diagnose programs written as people write them now. Continues where it was stopped."""
    from benchmarks.modern.card import scorecard
    from benchmarks.modern.case import catalogue
    from benchmarks.modern.measure import measure_all
    from reenact.errors import InputError

    chosen = Half(half)
    members = catalogue(chosen)
    strange = sorted(set(only) - {case.id for case in members})
    if strange:
        raise InputError(f"Not programs of the {half} half. Received: {', '.join(strange)}.")
    cases = [case for case in members if (not only or case.id in only) and kind in (None, case.kind)]
    kept = resolve().settings.runs_dir / "bench" / "modern"

    def measure(tell: Tell, stop: Stop) -> Scorecard:
        if others:
            from benchmarks.modern.others import measure_others

            return measure_others(cases, chosen, kept, jobs=jobs, minutes=limit_minutes, tell=tell, stop=stop)
        found = measure_all(
            cases, chosen, kept, depth=depth, jobs=jobs, minutes=limit_minutes, tell=tell, stop=stop
        )
        return scorecard(chosen, cases, found, depth=depth, whole=not only)

    return conduct(measure, out)
