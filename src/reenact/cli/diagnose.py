"""`reenact diagnose PROGRAM`: what is wrong with this training, where, and what happens if it is changed."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import click

from reenact.api import diagnose as run_diagnosis
from reenact.cli.asking import model_options
from reenact.cli.calling import STDERR, calling, trust_journal_option
from reenact.cli.options import (
    CONFIDENCE,
    DIAGNOSE_BUDGET,
    WORKERS,
    Count,
    listed,
    output_format,
    show,
)
from reenact.cli.times import max_time_option, training_time_option
from reenact.cli.watch import PROGRAM, program_words
from reenact.diagnosis.depth import Depth
from reenact.diagnosis.options import THRESHOLD
from reenact.report.views.diagnosis import diagnosis_document


@click.command(context_settings=PROGRAM)
@click.option(
    "--depth",
    type=click.Choice([depth.value for depth in Depth]),
    default=Depth.QUICK.value,
    show_default=True,
    help="static reads; quick watches one run; normal and deep change the suspects and train.",
)
@click.option("--select", multiple=True, help="Only these rules: a code, prefix, name, family or tool.")
@click.option("--ignore", multiple=True, help="Not these rules.")
@click.option(
    "--budget", type=DIAGNOSE_BUDGET, help="For normal and deep: 20x one training, 40t trainings, 5m."
)
@click.option("--metric", help="The metric that judges a change, for example val_accuracy.")
@click.option("--threshold", type=CONFIDENCE, default=THRESHOLD, show_default=True, help="Least confidence.")
@click.option("--learned", is_flag=True, help="Ask the learned detector too.")
@click.option("--workers", type=WORKERS, default=0, help="Parallel trainings (default: one per core).")
@max_time_option
@training_time_option
@click.option("--python", help="Interpreter to use; default: the active one.")
@click.option("--fresh", is_flag=True, help="Reuse nothing of earlier runs, continue none.")
@trust_journal_option
@click.option(
    "--samples", type=Count(1, 20), default=5, show_default=True, help="How often the model is asked."
)
@model_options
@output_format
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def diagnose(
    depth: str, select: tuple[str, ...], ignore: tuple[str, ...], budget: str | None, metric: str | None,
    threshold: float, learned: bool, workers: int, max_time: float | None, training_time: float | None,
    python: str | None, fresh: bool, trust_journal: bool, samples: int, model: str | None,
    max_cost: Decimal | None, max_tokens: int | None, max_calls: int | None, record: Path | None,
    output_format: str, program: tuple[str, ...],
) -> int:  # fmt: skip
    """Say what is wrong with the training PROGRAM, at which layer and line, and what would fix it.

    PROGRAM is a script, a notebook or `-m package` with its arguments. Its source is never changed; it runs
    as you run it, and changed copies of it run in scratch folders. Exit code 0: a
    training was seen and nothing speaks against it; 1: findings, or a broken training; 3: nothing to judge.
    """
    with calling(max_time) as stop:
        found = run_diagnosis(
            program_words(program), depth=depth, select=listed(select), ignore=listed(ignore), budget=budget,
            metric=metric, threshold=threshold, learned=learned, workers=workers, python=python,
            training_time=training_time, max_time=max_time, model=model, samples=samples, max_cost=max_cost,
            max_tokens=max_tokens, max_calls=max_calls, record=record, fresh=fresh,
            trust_journal=trust_journal, output=STDERR, progress=True, cancel=stop,
        )  # fmt: skip
    show(diagnosis_document(found, " ".join(program)), output_format)
    return found.exit_code
