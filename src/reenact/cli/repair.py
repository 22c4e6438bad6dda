"""`reenact repair PROGRAM`: the smallest change that makes the training significantly better, as a diff."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from reenact.api import repair as run_repair
from reenact.cli.asking import model_options
from reenact.cli.calling import STDERR, calling, trust_journal_option
from reenact.cli.options import (
    RANDOM_SEED,
    REPAIR_BUDGET,
    WORKERS,
    Amount,
    Count,
    listed,
    output_format,
    renamed_option,
    show,
)
from reenact.cli.times import max_time_option, training_time_option
from reenact.cli.watch import PROGRAM, program_words
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.report.views.repair import repair_document


@click.command(context_settings=PROGRAM)
@click.option(
    "--strategy", default="guided", show_default=True, help=f"How to search: {', '.join(BUILT_IN)}."
)
@click.option(
    "--budget", type=REPAIR_BUDGET, default="20x", show_default=True,
    help="For search and minimising: a multiple of one training (20x), a time (5m), trainings (40t).",
)  # fmt: skip
@click.option("--metric", help="The metric that judges, for example val_accuracy.")
@click.option(
    "--seeds",
    type=Count(6, 1000),
    default=10,
    show_default=True,
    help="Fresh seeds for the final verification.",
)
@click.option("--select", multiple=True, help="Only what these rules find: codes, prefixes, families.")
@click.option("--ignore", multiple=True, help="Not these rules.")
@click.option("--space", type=click.Choice(["own", "study"]), default="own", show_default=True,
              help="Values for random, bohb and hebo: ours, or those of the study.")  # fmt: skip
@click.option("--search-seed", type=RANDOM_SEED, help="Random seed of the search.")
@click.option("--chance", type=RANDOM_SEED, hidden=True)
@click.option(
    "--samples",
    type=Count(1, 20),
    default=5,
    show_default=True,
    help="Answers that the strategy llm asks for.",
)
@click.option("--temperature", type=Amount(0, 2), help="Temperature of these answers.")
@click.option("--workers", type=WORKERS, default=0, help="Parallel trainings (default: one per core).")
@click.option(
    "--executor",
    default="process",
    show_default=True,
    help="Where trainings run: process, ensemble, ray, or the address of a Ray cluster.",
)
@max_time_option
@training_time_option
@click.option("--python", help="Interpreter to use; default: the active one.")
@click.option("--apply", "apply", is_flag=True, help="Write a verified change into the files, with a backup.")
@click.option("--branch", help="With --apply: a new git branch instead; the files stay as they are.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@model_options
@output_format
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def repair(
    strategy: str, budget: str, metric: str | None, seeds: int, select: tuple[str, ...],
    ignore: tuple[str, ...], space: str, search_seed: int | None, chance: int | None, samples: int,
    temperature: float | None, workers: int, executor: str, max_time: float | None,
    training_time: float | None, python: str | None, apply: bool, branch: str | None, fresh: bool,
    trust_journal: bool, model: str | None, max_cost: Decimal | None, max_tokens: int | None,
    max_calls: int | None, record: Path | None, output_format: str, program: tuple[str, ...],
) -> int:  # fmt: skip
    """Find the smallest change that makes the training PROGRAM significantly better.

    Changed copies of it are trained in scratch folders; your files are changed only by --apply, and only
    when the change held on fresh seeds. Exit code 0: repaired, or good already; 1: nothing found that
    matters; 3: what was found did not hold, or no training could be compared.
    """
    chosen_seed = renamed_option("--chance", chance, "--search-seed", search_seed) or 0
    with calling(max_time) as stop:
        found = run_repair(
            program_words(program), strategy=strategy, budget=budget, metric=metric, seeds=seeds,
            select=listed(select), ignore=listed(ignore), space=space, search_seed=chosen_seed,
            samples=samples,
            temperature=temperature, workers=workers, executor=executor, python=python,
            training_time=training_time, max_time=max_time, apply=apply, branch=branch, model=model,
            max_cost=max_cost, max_tokens=max_tokens, max_calls=max_calls, record=record, fresh=fresh,
            trust_journal=trust_journal, output=STDERR, progress=True, cancel=stop,
        )  # fmt: skip
    show(repair_document(found, " ".join(program)), output_format)
    return found.decision.exit_code
