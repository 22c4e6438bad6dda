"""`python -m benchmarks repair`: strategies of repair on the faults of the benchmark."""

from __future__ import annotations

import os
from pathlib import Path

import click

from benchmarks.command import conduct, keep, out_folder
from reenact.cli.options import REPAIR_BUDGET, REPEATS, Count
from reenact.settings import resolve
from reenact.types import ExitCode

FULL = ("guided", "random", "bohb", "hebo", "autotrainer", "autotrainer-scratch")


@click.command()
@click.argument("names", nargs=-1)
@click.option("--scale", type=click.Choice(["lite", "full"]), default="lite", show_default=True)
@click.option(
    "--strategy",
    "strategies",
    multiple=True,
    help="Only these, as hebo, random:own (in our search space) or hebo@3 (with its own repeats).",
)
@click.option(
    "--budget",
    "budgets",
    type=REPAIR_BUDGET,
    multiple=True,
    help="Multiples of one training; default by the scale.",
)
@click.option("--repeats", type=REPEATS, help="Default: 3 at lite scale, 10 at full.")
@click.option(
    "--seeds",
    type=Count(6, 1000),
    help="How many judge a run; default: 6 at lite scale, 10 at full.",
)
@click.option("--jobs", type=Count(1, 1024), help="Faults at once; default: one a core.")
@click.option("--fresh", is_flag=True, help="Start over instead of continuing an interrupted run.")
@out_folder
def repair(
    names: tuple[str, ...],
    scale: str,
    strategies: tuple[str, ...],
    budgets: tuple[str, ...],
    repeats: int | None,
    seeds: int | None,
    jobs: int | None,
    fresh: bool,
    out: Path | None,
) -> ExitCode:
    """Repair each fault (default: the study's 22) by every strategy, and compare with the known
    fix.

    The result so far is written after every fault; killed, the same command continues.
    """
    from benchmarks.faults.case import Scale
    from benchmarks.faults.cases import catalogue, fault_case
    from benchmarks.repairs.runs import Plan, measure
    from reenact.journal import Journal

    lite = scale == "lite"
    cores = os.cpu_count() or 1
    plan = Plan(
        strategies=strategies or (("guided", "random") if lite else FULL),
        budgets=budgets or (("10", "20") if lite else ("10", "20", "50")),
        repeats=repeats or (3 if lite else 10),
        seeds=seeds or (6 if lite else 10),
        workers=cores,
    )
    cases = [fault_case(name) for name in names] or [case for case in catalogue() if case.study]
    runs_dir = resolve().settings.runs_dir
    with Journal.open(runs_dir) as journal:
        return conduct(
            lambda tell, stop: measure(
                cases,
                Scale(scale),
                plan,
                journal=journal,
                work=runs_dir / "bench" / "repair-outcomes",
                tell=tell,
                stop=stop,
                fresh=fresh,
                jobs=jobs or cores,
                each=lambda card: keep(card, out),
            ),
            out,
        )
