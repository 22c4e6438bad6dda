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
@click.option(
    "--half", type=click.Choice(["tune", "confirm", "fresh", "later"]), default="tune", show_default=True
)
@click.option("--depth", type=click.Choice(["quick", "normal"]), default="quick", show_default=True)
@click.option("--only", multiple=True, metavar="ID", help="Only this program of the half; may be repeated.")
@click.option("--kind", type=click.Choice(["faulty", "sound"]), help="Only these programs; default: both.")
@click.option("--repair", is_flag=True, help="Repair the faulty programs instead; beside their fixes.")
@click.option("--budget", default="", help="With --repair: its budget, as 20x or 40t; default: the usual.")
@click.option("--seeds", type=Count(6, 100), default=10, show_default=True, help="With --repair: that judge.")
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
    budget: str,
    seeds: int,
    limit_minutes: float | None,
    jobs: int,
    out: Path | None,
) -> ExitCode:
    """Diagnose programs that nobody here wrote and score what is named. Continues where it was stopped."""
    from benchmarks.field.card import scorecard, scored
    from benchmarks.field.case import Half, catalogue, half_of
    from benchmarks.field.diagnosed import measure_all
    from benchmarks.field.repair_card import repair_scorecard
    from benchmarks.field.repaired import repair_all
    from benchmarks.field.result import FieldRepair, FieldResult, Results
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
    folder = resolve().settings.runs_dir / "bench" / "field"

    def diagnose_them(tell: Tell, stop: Stop) -> Scorecard:
        found = measure_all(
            cases, checkouts, Results(folder, FieldResult), depth=Depth(depth), jobs=jobs,
            minutes=limit_minutes, tell=tell, stop=stop,
        )  # fmt: skip
        return scorecard(scored(wanted, cases, found), Depth(depth), whole=not only)

    def repair_them(tell: Tell, stop: Stop) -> Scorecard:
        faulty = [case for case in cases if not case.sound]
        found = repair_all(
            faulty, checkouts, Results(folder, FieldRepair), budget=budget, seeds=seeds, jobs=jobs,
            minutes=limit_minutes, tell=tell, stop=stop,
        )  # fmt: skip
        return repair_scorecard(wanted, faulty, found, whole=not only)

    return conduct(repair_them if repair else diagnose_them, out)
