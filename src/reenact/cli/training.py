"""`reenact diagnose PROGRAM`: what is wrong with this training, where, and what happens if it is changed;
`reenact repair PROGRAM`: the smallest change that makes the training significantly better, as a diff;
`reenact alternatives PROGRAM`: other repairs than the known one, found through neutral changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from reenact.api.session import open_session
from reenact.api.training import diagnose as run_diagnosis
from reenact.api.training import repair as run_repair
from reenact.cli.calling import PROGRAM, STDERR, answer, calling, program_words
from reenact.cli.options import (
    CONFIDENCE,
    DIAGNOSE_BUDGET,
    FILE,
    MODEL,
    NEW_FILE,
    RECORDED,
    REPAIR_BUDGET,
    REPEATS,
    Amount,
    Count,
    defaulted,
    listed,
    option,
    shared,
    show,
)
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.diagnosis.options import EXPERIMENTS, Depth
from reenact.program.program import read_program
from reenact.repairs.strategies.strategy import BUILT_IN
from reenact.report.document import Document
from reenact.report.views.diagnosis import diagnosis_document
from reenact.types import ExitCode

if TYPE_CHECKING:
    from reenact.repairs.verdict import Repair


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
@defaulted(
    "--experiments",
    CONFIDENCE,
    EXPERIMENTS,
    "Share of the training's own time that each small experiment may take.",
)
@shared("workers", "executor", "data", "max-time", "training-time", "prune", "stand-in-data", "python")
@shared(*RECORDED)
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
@shared("workers", "executor", "data", "max-time", "training-time", "prune", "stand-in-data", "python")
@click.option("--apply", is_flag=True, help="Write a verified change into the files, with a backup.")
@click.option("--branch", help="With --apply: a new git branch instead; the files stay as they are.")
@click.option("--allow-dirty", is_flag=True, help="With --apply: also over changes that were not committed.")
@shared(*RECORDED, *MODEL, "output-format", "program")
def repair(program: tuple[str, ...], **given: Any) -> int:
    """Find the smallest change that makes the training PROGRAM significantly better.

    Changed copies of it are trained in scratch folders; your files are changed only by --apply, and only
    when the change held on fresh seeds. Exit code 0: repaired, or good already; 1: nothing found that
    matters; 3: what was found did not hold, or no training could be compared.
    """

    from reenact.report.views.repair import repair_document

    def view(result: Repair) -> Document:
        return repair_document(result, " ".join(program))

    return answer(run_repair, view, program_words(program), output=STDERR, **given)


@click.command(context_settings=PROGRAM)
@option("--known", "The program with the known repair; without it the program itself is the measure.", FILE)
@defaulted(
    "--budget", REPAIR_BUDGET, "200x", "A multiple of one training (200x), a time (5m) or trainings (400t)."
)
@defaulted("--trainings", Count(2, 10_000), 10, "Trainings per node.")
@defaulted("--top", REPEATS, 5, "Nodes kept per round.")
@click.option("--metric", help="The metric that judges.")
@shared("search-seed", "workers", "python")
@option("--svg", "Write the graph as a drawing.", NEW_FILE)
@shared(*RECORDED, "max-time", "output-format", "program")
def alternatives(
    program: tuple[str, ...],
    known: Path | None,
    svg: Path | None,
    output_format: str,
    fresh: bool,
    **given: Any,
) -> int:
    """Walk from the training PROGRAM through changes that are no worse, and list those that repair it.

    Exit code 0: alternatives were found; 1: none.
    """
    from reenact.diagnosis.pipeline import DiagnoseServices
    from reenact.repairs.alternatives import AlternativesOptions, analyse
    from reenact.report.views.alternatives import alternatives_document, neutrality_plot

    read = read_program(program_words(program))
    beside = read_program((str(known),)) if known is not None else None
    with (
        calling(given["max_time"]) as stop,
        open_session({**given, "progress": True, "cancel": stop}) as session,
    ):
        options = AlternativesOptions(
            given["budget"], given["trainings"], given["top"], given["metric"] or "",
            session.settings.python, given["workers"], given["search_seed"],
        )  # fmt: skip
        services = session.services(DiagnoseServices, output=STDERR, fresh=fresh)
        found = analyse(read, options, services, beside)
    if svg is not None:
        drawing = neutrality_plot(found).svg
        svg.write_text(drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1), "utf-8")
    show(alternatives_document(found, " ".join(program)), output_format)
    return ExitCode.OK if found.alternatives else ExitCode.FOUND
