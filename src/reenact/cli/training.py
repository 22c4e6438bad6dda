"""`reenact diagnose PROGRAM`: what is wrong with this training, where, and what happens if it is changed;
`reenact repair PROGRAM`: the smallest change that makes the training significantly better, as a diff."""

from __future__ import annotations

from typing import Any

import click

from reenact.api.training import diagnose as run_diagnosis
from reenact.api.training import repair as run_repair
from reenact.cli.calling import PROGRAM, STDERR, answer, program_words
from reenact.cli.options import (
    DIAGNOSE_BUDGET,
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
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.repairs.verdict import Repair
from reenact.report.document import Document
from reenact.report.views.diagnosis import diagnosis_document
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
@shared("workers")
@defaulted(
    "--executor", str, "process", "Where trainings run: process, ray, or the address of a Ray cluster."
)
@shared("max-time", "training-time", "stand-in-data", "python")
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


@click.command(context_settings=PROGRAM)
@defaulted(
    "--depth",
    click.Choice([depth.value for depth in Depth]),
    Depth.QUICK.value,
    "static reads; quick watches one run; normal and deep change the suspects and train.",
)
@shared("select", "ignore")
@option("--budget", "For normal and deep: 20x one training, 40t trainings, 5m.", DIAGNOSE_BUDGET)
@option("--metric", "The metric that judges a change, for example val_accuracy.")
@shared("threshold")
@click.option("--learned", is_flag=True, help="Ask the learned detector too.")
@shared("workers", "max-time", "training-time", "stand-in-data", "python", *RECORDED)
@defaulted("--samples", Count(1, 20), 5, "How often the model is asked.")
@shared(*MODEL, "output-format", "program")
def diagnose(program: tuple[str, ...], **given: Any) -> int:
    """Say what is wrong with the training PROGRAM, at which layer and line, and what would fix it.

    PROGRAM is a script, a notebook or `-m package` with its arguments. Its source is never changed; it runs
    as you run it, and changed copies of it run in scratch folders. Exit code 0: a
    training was seen and nothing speaks against it; 1: findings, or a broken training; 3: nothing to judge.
    """

    def view(result: Diagnosis) -> Document:
        return diagnosis_document(result, " ".join(program))

    return answer(run_diagnosis, view, program_words(program), output=STDERR, **given)
