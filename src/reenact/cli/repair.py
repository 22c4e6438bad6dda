"""`reenact repair PROGRAM`: the smallest change that makes the training significantly better, as a diff."""

from __future__ import annotations

from typing import Any

import click

from reenact.api import repair as run_repair
from reenact.cli.calling import PROGRAM, STDERR, answer, program_words
from reenact.cli.options import (
    MODEL,
    RANDOM_SEED,
    RECORDED,
    REPAIR_BUDGET,
    Amount,
    Count,
    listed,
    renamed_option,
    shared,
)
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.repairs.verdict import Repair
from reenact.report.document import Document
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
@click.option(
    "--select",
    multiple=True,
    callback=listed,
    help="Only what these rules find: codes, prefixes, families.",
)
@shared("ignore")
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
@shared("workers")
@click.option(
    "--executor",
    default="process",
    show_default=True,
    help="Where trainings run: process, ray, or the address of a Ray cluster.",
)
@shared("max-time", "training-time", "python")
@click.option("--apply", is_flag=True, help="Write a verified change into the files, with a backup.")
@click.option("--branch", help="With --apply: a new git branch instead; the files stay as they are.")
@shared(*RECORDED, *MODEL, "output-format")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def repair(program: tuple[str, ...], search_seed: int | None, chance: int | None, **given: Any) -> int:
    """Find the smallest change that makes the training PROGRAM significantly better.

    Changed copies of it are trained in scratch folders; your files are changed only by --apply, and only
    when the change held on fresh seeds. Exit code 0: repaired, or good already; 1: nothing found that
    matters; 3: what was found did not hold, or no training could be compared.
    """
    seed = renamed_option("--chance", chance, "--search-seed", search_seed) or 0

    def view(result: Repair) -> Document:
        return repair_document(result, " ".join(program))

    return answer(run_repair, view, program_words(program), search_seed=seed, output=STDERR, **given)
