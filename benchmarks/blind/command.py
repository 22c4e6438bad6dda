"""`python -m benchmarks blind`: whether a verdict depends on how a program is written.

Programs are rewritten without changing what they do; a rewrite counts where it prints and
differentiates the same, to the bit. Stopped, the same command continues where it was: each program
has a file of its own under `--out`, and files from several machines may be put together there.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from benchmarks.blind.cases import PROGRAMS, SEED, Case, drawn, examples, of_training
from benchmarks.blind.compare import compare_all, minutes, read
from benchmarks.blind.rewrites.every import ALL, REWRITES
from benchmarks.command import conduct, out_folder
from benchmarks.scorecard import Scorecard
from reenact.cli.options import Count
from reenact.settings import resolve
from reenact.types import ExitCode, Stop, Tell

SETS = ("both", "examples", "trainings")


@click.command()
@click.option("--static", is_flag=True, help="Read the programs only; default: watch one run.")
@click.option("--set", "which", type=click.Choice(SETS), default="both", show_default=True)
@click.option(
    "--programs",
    type=Count(1, 1000),
    default=PROGRAMS,
    show_default=True,
    help="Drawn from the opened splits of the data set.",
)
@click.option(
    "--seed",
    type=Count(0, 10**6),
    default=SEED,
    show_default=True,
    help="Of the draw.",
)
@click.option("--program", "wanted", multiple=True, help="Only programs whose name has this word.")
@click.option("--each", is_flag=True, help="Drawn programs too by each rewrite alone.")
@click.option("--jobs", type=Count(1, 1024), default=1, show_default=True, help="Programs at once.")
@click.option("--fresh", is_flag=True, help="Compare again what was compared.")
@click.option("--count", is_flag=True, help="Compare nothing; count what was compared.")
@out_folder
def blind(
    static: bool,
    which: str,
    programs: int,
    seed: int,
    wanted: tuple[str, ...],
    each: bool,
    jobs: int,
    fresh: bool,
    count: bool,
    out: Path | None,
) -> ExitCode:
    """Rewrite programs without changing what they do and compare what is shown of them."""
    depth = "static" if static else "quick"
    cases = [
        case
        for case in _cases(which, programs, seed, each=each)
        if any(word in case.name for word in wanted or ("",))
    ]
    kept = (out or resolve().settings.runs_dir / "bench") / "blind-cases"
    if fresh:
        shutil.rmtree(kept, ignore_errors=True)
    waiting = [case for case in cases if read(case, depth, kept) is None]
    if count:
        cases = [case for case in cases if case not in waiting]
    click.echo(
        f"{len(cases)} programs{'' if count else ' in all'}, {len(waiting)} not compared yet: "
        f"about {minutes(waiting, depth) / jobs:.0f} minutes."
    )
    return conduct(
        lambda tell, stop: measure(cases, depth, kept, jobs=jobs, tell=tell, stop=stop),
        out,
    )


def _cases(which: str, programs: int, seed: int, *, each: bool) -> list[Case]:
    found = examples() if which != "trainings" else []
    if which == "examples":
        return found
    more = drawn(programs, seed)
    if each:
        more = [of_training(case.training, (*REWRITES, ALL)) for case in more if case.training]
    return [*found, *more]


def measure(
    cases: list[Case],
    depth: str,
    kept: Path,
    *,
    jobs: int = 1,
    tell: Tell,
    stop: Stop,
) -> Scorecard:
    """Compare every case and count."""
    from benchmarks.blind.card import scorecard

    return scorecard(cases, compare_all(cases, depth, kept, jobs=jobs, tell=tell, stop=stop), depth)
