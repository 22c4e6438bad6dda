"""`reenact watch PROGRAM`: run a training unmodified, see what happens inside, keep the trace."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from reenact.cli.options import output_format, show, stopping_gently
from reenact.cli.watch_view import watch_sheet
from reenact.probe.naming import fresh_folder
from reenact.probe.options import PRESETS, WatchOptions
from reenact.probe.read import is_trace, read_trace
from reenact.probe.watch import watch as watch_program
from reenact.program.program import read_program
from reenact.settings import resolve

PROGRAM = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Everything after the program's name belongs to the program."""
LOOK_EVERY_S = 3.0


@click.command(context_settings=PROGRAM)
@click.option(
    "--preset", type=click.Choice(PRESETS), default="quick", show_default=True, help="How closely to look."
)
@click.option("--seed", type=int, help="Override the program's own global seeds.")
@click.option(
    "--metric-regex",
    "patterns",
    multiple=True,
    help="Read a metric off the output: 'acc (?P<accuracy>\\S+)'.",
)
@click.option("--max-time", type=float, help="End the program after so many seconds.")
@click.option("--stop-after", type=int, help="End the program after so many optimiser steps.")
@click.option("--python", help="Interpreter to use; default: the active one.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for the trace; default: below the runs folder."
)
@output_format
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def watch(
    preset: str, seed: int | None, patterns: tuple[str, ...], max_time: float | None, stop_after: int | None,
    python: str | None, out: Path | None, output_format: str, program: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a PROGRAM of yours under the probe, unmodified, and keep the trace.

    PROGRAM is a script, a notebook or `-m package` with its arguments, or `-- torchrun ...`. It runs as you
    run it: your interpreter, folder, files and network. The exit code is the program's own.
    """
    settings = resolve({"python": python}).settings
    read = read_program(program)
    folder = out or fresh_folder(read.entry.stem, settings.runs_dir / "traces")
    options = WatchOptions(
        folder=folder, preset=preset, seed=seed, patterns=patterns, max_time=max_time, stop_after=stop_after,
        python=settings.python,
    )  # fmt: skip
    for_machines = output_format != "full"
    with stopping_gently() as stop:
        watched = watch_program(
            read, options,
            stdout=sys.stderr.fileno() if for_machines else None,
            stop=stop,
            on_poll=Live(folder) if sys.stderr.isatty() else None,
        )  # fmt: skip
    show(watch_sheet(watched, f"Watched {' '.join(program)}"), output_format)
    code = watched.outcome.exit_code
    return 2 if code is None else code if code >= 0 else 128 - code


class Live:
    """A line every few seconds: how far the training is."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._next = time.monotonic() + LOOK_EVERY_S
        self._seen = 0

    def __call__(self) -> None:
        if time.monotonic() < self._next or not is_trace(self._folder):
            return
        trace = read_trace(self._folder)
        self._next = time.monotonic() + LOOK_EVERY_S
        if trace.step_count > self._seen:
            self._seen = trace.step_count
            epoch = f"epoch {trace.epoch_count}, " if trace.epoch_count else ""
            click.secho(
                f"[reenact] {epoch}step {self._seen}, loss {trace.losses.values[-1]:.4g}", err=True, dim=True
            )
