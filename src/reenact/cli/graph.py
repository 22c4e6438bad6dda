"""`reenact graph PROGRAM`: the layers as they really are, each with the line that made it."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click

from reenact.cli.calling import PROGRAM, program_words, stopping_gently
from reenact.cli.options import SECONDS, defaulted, shared, show
from reenact.errors import Inconclusive
from reenact.probe.options import WatchOptions
from reenact.probe.watch import watch as watch_program
from reenact.program.program import read_program
from reenact.report.document import Document
from reenact.report.views.trace import graph_data, graph_facts, layer_blocks
from reenact.settings import resolve
from reenact.types import ExitCode

STEPS = 3


@click.command(context_settings=PROGRAM)
@shared("python")
@defaulted("--max-time", SECONDS, 120.0, "Seconds that the whole command may take.")
@shared("output-format")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def graph(python: str | None, max_time: float, output_format: str, program: tuple[str, ...]) -> ExitCode:
    """Show the model of a PROGRAM: layers, shapes, weights, loss, optimiser and task.

    The program is run until its first few training steps are done, and is then ended.
    """
    settings = resolve({"python": python}).settings
    with tempfile.TemporaryDirectory(prefix="reenact-graph-") as folder, stopping_gently(max_time) as stop:
        options = WatchOptions(folder=Path(folder) / "trace", stop_after=STEPS, python=settings.python)
        watched = watch_program(
            read_program(program_words(program)), options, stdout=sys.stderr.fileno(), stop=stop
        )
    found = watched.trace.graph if watched.trace else None
    if found is None:
        raise Inconclusive(
            f"No model was seen in training. {watched.outcome.sentence}",
            next_step=f"reenact watch {' '.join(program)}",
        )
    show(
        Document(
            kind="graph",
            title=f"Model of {' '.join(program)}",
            verdict=f"{len(found.layers)} layers, {found.parameters:,} weights, task {found.task.value}.",
            blocks=(graph_facts(found), *layer_blocks(found)),
            data=graph_data(found),
        ),
        output_format,
    )
    return ExitCode.OK
