"""`reenact repair PROGRAM`: the smallest change that makes the training significantly better, as a diff."""

from __future__ import annotations

from typing import Any

import click

from reenact.api.training import repair as run_repair
from reenact.cli.calling import PROGRAM, STDERR, answer, program_words
from reenact.cli.options import (
    MODEL,
    RECORDED,
    REPAIR_BUDGET,
    Amount,
    Count,
    defaulted,
    listed,
    option,
    shared,
)
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.repairs.verdict import Repair
from reenact.report.document import Document
from reenact.report.views.repair import repair_document


@click.command(context_settings=PROGRAM)
@defaulted("--strategy", str, "guided", f"How to search: {', '.join(BUILT_IN)}.")
@option(
    "--budget",
    "For search and minimising: a multiple of one training (20x), a time (5m), trainings (40t); default: 20x,"
    " and more where one takes less than 1.5 s.",
    REPAIR_BUDGET,
)
@option("--metric", "The metric that judges, for example val_accuracy.")
@defaulted("--seeds", Count(6, 1000), 10, "Fresh seeds for the final verification.")
@option("--select", "Only what these rules find: codes, prefixes, families.", multiple=True, callback=listed)
@shared("ignore")
@defaulted(
    "--space",
    click.Choice(["own", "study"]),
    "own",
    "Values for random, bohb and hebo: ours, or those of the study.",
)
@shared("search-seed")
@defaulted("--samples", Count(1, 20), 5, "Answers that the strategy llm asks for.")
@click.option("--temperature", type=Amount(0, 2), help="Temperature of these answers.")
@shared("workers", "executor", "data", "max-time", "training-time", "stand-in-data", "python")
@click.option("--apply", is_flag=True, help="Write a verified change into the files, with a backup.")
@click.option("--branch", help="With --apply: a new git branch instead; the files stay as they are.")
@click.option("--allow-dirty", is_flag=True, help="With --apply: also over changes that were not committed.")
@shared(*RECORDED, *MODEL, "output-format", "program")
def repair(program: tuple[str, ...], search_seed: int | None, **given: Any) -> int:
    """Find the smallest change that makes the training PROGRAM significantly better.

    Changed copies of it are trained in scratch folders; your files are changed only by --apply, and only
    when the change held on fresh seeds. Exit code 0: repaired, or good already; 1: nothing found that
    matters; 3: what was found did not hold, or no training could be compared.
    """

    def view(result: Repair) -> Document:
        return repair_document(result, " ".join(program))

    return answer(
        run_repair, view, program_words(program), search_seed=search_seed or 0, output=STDERR, **given
    )
