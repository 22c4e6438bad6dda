"""`reenact alternatives PROGRAM`: other repairs than the known one, found through neutral changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reenact.api.session import COMMAND, open_session
from reenact.cli.calling import PROGRAM, STDERR, calling, program_words
from reenact.cli.options import (
    FILE,
    NEW_FILE,
    RECORDED,
    REPAIR_BUDGET,
    REPEATS,
    Count,
    defaulted,
    option,
    shared,
    show,
)
from reenact.program.program import read_program
from reenact.report.views.alternatives import alternatives_document, neutrality_plot
from reenact.types import ExitCode


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
    search_seed: int | None,
    fresh: bool,
    **given: Any,
) -> int:
    """Walk from the training PROGRAM through changes that are no worse, and list those that repair it.

    Exit code 0: alternatives were found; 1: none.
    """
    from reenact.diagnosis.pipeline import DiagnoseServices
    from reenact.repairs.alternatives.pipeline import AlternativesOptions, analyse

    read = read_program(program_words(program))
    beside = read_program((str(known),)) if known is not None else None
    with (
        calling(given["max_time"]) as stop,
        open_session({**given, "progress": True, "cancel": stop}) as session,
    ):
        options = AlternativesOptions(
            given["budget"], given["trainings"], given["top"], given["metric"] or "",
            session.settings.python, given["workers"], search_seed or 0,
        )  # fmt: skip
        services = DiagnoseServices(
            journal=session.journal, traces=session.traces, tell=session.tell, stop=session.stop,
            stdout=STDERR, argv=COMMAND.get(), fresh=fresh,
        )  # fmt: skip
        found = analyse(read, options, services, beside)
    if svg is not None:
        drawing = neutrality_plot(found).svg
        svg.write_text(drawing.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1), "utf-8")
    show(alternatives_document(found, " ".join(program)), output_format)
    return ExitCode.OK if found.alternatives else ExitCode.FOUND
