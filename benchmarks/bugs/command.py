"""`python -m benchmarks bugs`: reports with known bugs, answered by a model or by recordings."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from benchmarks.bugs.variant import BASELINES, LEAVABLE
from benchmarks.command import conduct, out_folder
from reenact.api.session import model_for
from reenact.cli.options import CALLS, MONEY, TOKENS, Count
from reenact.settings import cache_folder, resolve
from reenact.types import ExitCode


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--foreign",
    is_flag=True,
    help="The bugs of public repositories instead of the shipped cases.",
)
@click.option(
    "--mirrors",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Folder of bare repositories as owner+name, for --foreign; default: they are cloned.",
)
@click.option(
    "--reports",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help=(
        "Folder of reports as owner+name#N.md, for --foreign; default: they are read from their "
        "tracker."
    ),
)
@click.option(
    "--case",
    "names",
    multiple=True,
    help="Only these cases; default: all of the folder.",
)
@click.option("--model", help="Ask this model; default: each case's recording answers.")
@click.option(
    "--record",
    is_flag=True,
    help="Keep the model's answers in the folder of each case.",
)
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(LEAVABLE),
    help="A row more: this part left out.",
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=click.Choice(BASELINES),
    help="A row more: a prompt alone.",
)
@click.option("--no-whole", is_flag=True, help="Only the rows of --without and --baseline.")
@click.option("--seeds", type=Count(1, 50), default=5, show_default=True, help="Runs a script.")
@click.option("--no-minimise", is_flag=True, help="Keep the scripts as long as they came.")
@click.option("--jobs", type=Count(1, 64), default=1, show_default=True, help="Cases at once.")
@click.option("--max-cost", type=MONEY, help="Money the run may spend on models, in US dollars.")
@click.option("--max-tokens", type=TOKENS, help="Tokens the run may use.")
@click.option("--max-calls", type=CALLS, help="Model calls the run may make.")
@click.option("--sandbox", help="Tier that runs the scripts; default: the best one here.")
@click.option(
    "--trust-code",
    is_flag=True,
    default=None,
    help="Allow a sandbox that confines nothing.",
)
@click.option("--fresh", is_flag=True, help="Start over: nothing run or recorded before counts.")
@out_folder
def bugs(
    folder: Path | None,
    foreign: bool,
    mirrors: Path | None,
    reports: Path | None,
    names: tuple[str, ...],
    model: str | None,
    record: bool,
    without: tuple[str, ...],
    baselines: tuple[str, ...],
    no_whole: bool,
    seeds: int,
    no_minimise: bool,
    jobs: int,
    max_cost: Decimal | None,
    max_tokens: int | None,
    max_calls: int | None,
    sandbox: str | None,
    trust_code: bool | None,
    fresh: bool,
    out: Path | None,
) -> ExitCode:
    """Show the bug of every case in DIR (default: the shipped cases), and compare with the truth.

    Without a model each case is answered by the recording in its folder; a case without one is not
    counted.
    """
    from benchmarks.bugs.cases import chosen_cases
    from benchmarks.bugs.foreign import load_foreign
    from benchmarks.bugs.measure import measure
    from benchmarks.bugs.runner import BenchRunner
    from benchmarks.bugs.variant import variants_of
    from benchmarks.scorecard import Scorecard
    from reenact.api.session import sandbox_for
    from reenact.bug.options import BugOptions
    from reenact.journal import Journal
    from reenact.sandbox.environments.prepare import Environments
    from reenact.types import Stop, Tell

    flags = {
        "model": model,
        "max_cost": max_cost,
        "max_tokens": max_tokens,
        "max_calls": max_calls,
        "sandbox": sandbox,
        "trust_code": trust_code,
    }
    settings = resolve(flags).settings
    cases = load_foreign(names, mirrors, reports) if foreign else chosen_cases(folder, names)
    box = sandbox_for(settings)
    with Journal.open(settings.runs_dir) as journal:

        def run(tell: Tell, stop: Stop) -> Scorecard:
            runner = BenchRunner(
                journal=journal,
                sandbox=box,
                record=record,
                fresh=fresh,
                tell=tell,
                stop=stop,
                # Recordings were made with contexts that are ranked by words alone.
                options=BugOptions(seeds=seeds, minimise=not no_minimise, dense=False, cause=False),
                # Only the flag: a model that the settings name for other verbs must not spend money
                # here.
                model=model_for(settings, stop=stop, tell=tell) if model else None,
                environments=Environments(
                    cache_folder(settings) / "environments",
                    box=box,
                    tell=tell,
                    stop=stop,
                ),
            )
            variants = variants_of(without, baselines, whole=not no_whole)
            return measure(cases, runner, variants=variants, jobs=jobs)

        return conduct(run, out)
