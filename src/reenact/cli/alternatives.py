"""`reenact alternatives PROGRAM`: other repairs than the known one, found through neutral changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from reenact.api.session import COMMAND, open_session
from reenact.cli.calling import PROGRAM, STDERR, calling, program_words
from reenact.cli.options import (
    RANDOM_SEED,
    RECORDED,
    REPAIR_BUDGET,
    REPEATS,
    Count,
    defaulted,
    renamed_option,
    shared,
    show,
)
from reenact.program.program import read_program
from reenact.report.views.alternatives import alternatives_document, neutrality_plot
from reenact.types import ExitCode


@click.command(context_settings=PROGRAM)
@click.option(
    "--known",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The program with the known repair; without it the program itself is the measure.",
)
@defaulted(
    "--budget", REPAIR_BUDGET, "200x", "A multiple of one training (200x), a time (5m) or trainings (400t)."
)
@defaulted("--trainings", Count(2, 10_000), 10, "Trainings per node.")
@defaulted("--top", REPEATS, 5, "Nodes kept per round.")
@click.option("--metric", help="The metric that judges.")
@click.option("--search-seed", type=RANDOM_SEED, help="Random seed of the search.")
@click.option("--chance", type=RANDOM_SEED, hidden=True)
@shared("workers", "python")
@click.option("--svg", type=click.Path(dir_okay=False, path_type=Path), help="Write the graph as a drawing.")
@shared(*RECORDED, "max-time", "output-format")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def alternatives(
    program: tuple[str, ...],
    known: Path | None,
    svg: Path | None,
    output_format: str,
    search_seed: int | None,
    chance: int | None,
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
    seed = renamed_option("--chance", chance, "--search-seed", search_seed) or 0
    with (
        calling(given["max_time"]) as stop,
        open_session({**given, "progress": True, "cancel": stop}) as session,
    ):
        options = AlternativesOptions(
            given["budget"], given["trainings"], given["top"], given["metric"] or "",
            session.settings.python, given["workers"], seed,
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
