"""`python -m benchmarks papers`: papers with known numbers, reproduced by a model or by
recorded answers.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from benchmarks.command import conduct, out_folder
from reenact.api.session import model_for
from reenact.cli.options import CALLS, MONEY, TOKENS, Count
from reenact.settings import cache_folder, resolve
from reenact.types import ExitCode


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path), metavar="[DIR]")
@click.option(
    "--case",
    "names",
    multiple=True,
    help="Only these cases; default: all of the folder.",
)
@click.option(
    "--entry",
    "entries",
    multiple=True,
    help="Run this entry of ReproduceBench too; needs --model.",
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
    metavar="PART[+PART]",
    help=(
        "A row more: lineage, fingerprint, debug, refine, figures, atomicity, scan or repair left "
        "out."
    ),
)
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    type=click.Choice(["one-shot"]),
    help="A row more: written once from the paper, nothing verified or repaired.",
)
@click.option("--rounds", multiple=True, type=Count(0, 5), help="A row more: so many revisions.")
@click.option(
    "--no-whole",
    is_flag=True,
    help="Only the rows of --without, --baseline and --rounds.",
)
@click.option("--runs", type=Count(1, 10), default=1, show_default=True, help="Tellings a case.")
@click.option("--jobs", type=Count(1, 64), default=1, show_default=True, help="Cases at once.")
@click.option("--max-cost", type=MONEY, help="Money the run may spend on models, in US dollars.")
@click.option("--max-tokens", type=TOKENS, help="Tokens the run may use.")
@click.option("--max-calls", type=CALLS, help="Model calls the run may make.")
@click.option("--sandbox", help="Tier that runs the code; default: the best one here.")
@click.option(
    "--trust-code",
    is_flag=True,
    default=None,
    help="Allow a sandbox that confines nothing.",
)
@click.option("--fresh", is_flag=True, help="Start over: nothing run or recorded before counts.")
@out_folder
def papers(
    folder: Path | None,
    names: tuple[str, ...],
    entries: tuple[str, ...],
    model: str | None,
    record: bool,
    without: tuple[str, ...],
    baselines: tuple[str, ...],
    rounds: tuple[int, ...],
    no_whole: bool,
    runs: int,
    jobs: int,
    max_cost: Decimal | None,
    max_tokens: int | None,
    max_calls: int | None,
    sandbox: str | None,
    trust_code: bool | None,
    fresh: bool,
    out: Path | None,
) -> ExitCode:
    """Reproduce every paper in DIR (default: the shipped ones), and compare with the truth.

    Without a model each case is answered by its recording; a case without one is not counted.
    """
    from benchmarks.papers.cases import chosen_cases
    from benchmarks.papers.facts import entry_cases
    from benchmarks.papers.measure import measure
    from benchmarks.papers.runner import BenchRunner
    from benchmarks.papers.variant import variants_of
    from benchmarks.scorecard import Scorecard
    from reenact.api.session import sandbox_for
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
    cases = (*chosen_cases(folder, names), *entry_cases(entries))
    variants = variants_of(without, baselines, rounds, whole=not no_whole)
    box = sandbox_for(settings)
    cache = cache_folder(settings)
    with Journal.open(settings.runs_dir) as journal:

        def run(tell: Tell, stop: Stop) -> Scorecard:
            runner = BenchRunner(
                journal=journal,
                sandbox=box,
                cache=cache / "papers",
                record=record,
                fresh=fresh,
                tell=tell,
                stop=stop,
                # Only the flag: a model that the settings name for other verbs must not spend money
                # here.
                model=model_for(settings, stop=stop, tell=tell) if model else None,
                environments=Environments(cache / "environments", box=box, tell=tell, stop=stop),
            )
            return measure(cases, runner, variants=variants, runs=runs, jobs=jobs)

        return conduct(run, out)
