"""`python -m benchmarks field`: foreign programs from a folder of checkouts, against what is true of them."""

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
    "--cases",
    "checkouts",
    required=True,
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder that holds the repositories, each under its name.",
)
@click.option("--half", type=click.Choice(["tune", "confirm"]), default="tune", show_default=True)
@click.option("--depth", type=click.Choice(["quick", "normal"]), default="quick", show_default=True)
@click.option("--only", multiple=True, metavar="ID", help="Only this program of the half; may be repeated.")
@click.option("--kind", type=click.Choice(["faulty", "sound"]), help="Only these programs; default: both.")
@click.option("--repair", is_flag=True, help="Repair the faulty programs too.")
@click.option("--limit-minutes", type=click.FloatRange(0.1, 600), help="Most minutes for one program.")
@click.option("--jobs", type=Count(1, 1024), default=1, show_default=True, help="Programs at once.")
@out_folder
def field(
    checkouts: Path,
    half: str,
    depth: str,
    only: tuple[str, ...],
    kind: str | None,
    repair: bool,
    limit_minutes: float | None,
    jobs: int,
    out: Path | None,
) -> ExitCode:
    """Diagnose programs that nobody here wrote and score what is named. Continues where it was stopped."""
    from benchmarks.field.card import scorecard, scored
    from benchmarks.field.case import Half, catalogue, half_of
    from benchmarks.field.diagnosed import measure_all
    from benchmarks.field.result import Results
    from reenact.diagnosis.options import Depth
    from reenact.errors import InputError

    wanted = Half(half)
    members = half_of(catalogue(), wanted)
    strange = sorted(set(only) - {case.id for case in members})
    if strange:
        raise InputError(f"Not programs of the {half} half. Received: {', '.join(strange)}.")
    cases = [
        case
        for case in members
        if (not only or case.id in only) and kind in (None, "sound" if case.sound else "faulty")
    ]
    results = Results(resolve().settings.runs_dir / "bench" / "field")

    def measure(tell: Tell, stop: Stop) -> Scorecard:
        found = measure_all(
            cases,
            checkouts,
            results,
            depth=Depth(depth),
            jobs=jobs,
            minutes=limit_minutes,
            repair=repair,
            tell=tell,
            stop=stop,
        )
        return scorecard([scored(wanted, cases, found)], Depth(depth), whole=not only)

    return conduct(measure, out)
