"""`reenact watch PROGRAM`: run a training unmodified, see what happens inside, keep the trace."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from reenact.cli.calling import PROGRAM, program_words, stopping_gently
from reenact.cli.options import RANDOM_SEED, STEPS, defaulted, echo, shared, show
from reenact.plain import PlainText
from reenact.probe.options import PRESETS, WatchOptions, fresh_folder
from reenact.probe.watch import Watched
from reenact.probe.watch import watch as watch_program
from reenact.program.program import Program, read_program
from reenact.report.views.trace import watch_document
from reenact.settings import Settings, resolve


@click.command(context_settings=PROGRAM)
@defaulted("--preset", click.Choice(PRESETS), "quick", "How closely to look.")
@click.option("--seed", type=RANDOM_SEED, help="Override the program's own global seeds.")
@click.option(
    "--metric-regex",
    "patterns",
    multiple=True,
    help="Read a metric off the output: 'acc (?P<accuracy>\\S+)'.",
)
@shared("max-time", "training-time")
@click.option("--stop-after", type=STEPS, help="End the program after this many optimizer steps.")
@shared("python")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder for the trace; default: below the runs folder."
)
@click.option("--sandbox", is_flag=True, help="Run a program from elsewhere in the sandbox.")
@click.option(
    "--trust-code", is_flag=True, default=None, help="Allow the sandbox `none`, which confines nothing."
)
@shared("output-format")
@click.argument("program", nargs=-1, required=True, type=click.UNPROCESSED)
def watch(
    preset: str, seed: int | None, patterns: tuple[str, ...], max_time: float | None,
    training_time: float | None, stop_after: int | None, python: str | None, out: Path | None,
    sandbox: bool, trust_code: bool | None, output_format: str,
    program: tuple[str, ...],
) -> int:  # fmt: skip
    """Run a PROGRAM of yours under the probe, unmodified, and keep the trace.

    PROGRAM is a script, a notebook or `-m package` with its arguments, or `-- torchrun ...`. It runs as you
    run it: your interpreter, folder, files and network. The exit code is the program's own.
    """
    settings = resolve({"python": python, "trust_code": trust_code, "max_time": max_time}).settings
    read = read_program(program_words(program))
    folder = out or fresh_folder(read.entry.stem, settings.runs_dir / "traces")
    options = WatchOptions(
        folder=folder, preset=preset, seed=seed, patterns=patterns, max_time=training_time,
        stop_after=stop_after, python=settings.python,
    )  # fmt: skip
    watched = (
        _boxed(read, options, settings)
        if sandbox
        else _run(read, options, settings, for_machines=output_format != "full")
    )
    show(watch_document(watched, f"Watched {' '.join(program)}"), output_format)
    code = watched.outcome.exit_code
    return 2 if code is None else code if code >= 0 else 128 - code


def _run(program: Program, options: WatchOptions, settings: Settings, *, for_machines: bool) -> Watched:
    """As the user runs it; its output goes to stderr when stdout is kept for a machine."""
    stdout = sys.stderr.fileno() if for_machines else None
    with stopping_gently(settings.max_time) as stop:
        return watch_program(program, options, stdout=stdout, stop=stop)


def _boxed(program: Program, options: WatchOptions, settings: Settings) -> Watched:
    """A program from elsewhere: in the sandbox, its output on stderr."""
    from reenact.probe.boxed import watch_boxed
    from reenact.sandbox.choose import choose, notice

    tier = choose(None if settings.sandbox == "auto" else settings.sandbox, trust_code=settings.trust_code)
    if weaker := notice(tier):
        echo(weaker, err=True)
    with stopping_gently(settings.max_time) as stop:
        cleaner = PlainText()
        watched = watch_boxed(
            program, options, tier, stop=stop, on_output=lambda data: _to_stderr(cleaner.feed(data))
        )
        _to_stderr(cleaner.finish())
        return watched


def _to_stderr(text: str) -> None:
    click.echo(text, err=True, nl=False)
