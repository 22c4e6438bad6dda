"""`reenact diagnose PROGRAM`: what is wrong with this training, where, and what happens if it is changed."""

from __future__ import annotations

from typing import Any

import click

from reenact.api.training import diagnose as run_diagnosis
from reenact.cli.calling import PROGRAM, STDERR, answer, program_words
from reenact.cli.options import DIAGNOSE_BUDGET, MODEL, RECORDED, Count, defaulted, option, shared
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import Depth
from reenact.report.document import Document
from reenact.report.views.diagnosis import diagnosis_document


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
@shared("workers", "executor", "data", "max-time", "training-time", "stand-in-data", "python", *RECORDED)
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
