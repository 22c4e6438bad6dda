"""`reenact watch PROGRAM`: run a training unmodified, see what happens inside, keep the trace;
`reenact graph PROGRAM`: the layers as they really are, each with the line that made it."""

import tempfile
from pathlib import Path

import click

from reenact.api.session import sandbox_for
from reenact.cli.calling import (
    PROGRAM,
    STDERR,
    calling,
    program_words,
    stdin_for_programs,
    stopping_gently,
)
from reenact.cli.help import command
from reenact.cli.options import (
    RANDOM_SEED,
    SECONDS,
    STEPS,
    defaulted,
    option,
    shared,
    show,
)
from reenact.errors import Inconclusive
from reenact.plain import PlainText
from reenact.probe.options import PRESETS, WatchOptions, fresh_folder
from reenact.probe.watch import Watched
from reenact.probe.watch import watch as watch_program
from reenact.program.program import Program, read_program
from reenact.report.views.trace import graph_document, watch_document
from reenact.settings import Settings, resolve
from reenact.types import ExitCode, Stop

PATTERN = "Read a metric off the output: 'acc (?P<accuracy>\\S+)'."
FIRST_STEPS = 3
"""Training steps after which the layers are known."""


@command(context_settings=PROGRAM)
@defaulted("--preset", click.Choice(PRESETS), "quick", "How closely to look.")
@click.option("--seed", type=RANDOM_SEED, help="Override the program's own global seeds.")
@click.option("--metric-regex", "patterns", multiple=True, help=PATTERN)
@shared("max-time", "training-time")
@click.option("--stop-after", type=STEPS, help="End the program after this many optimizer steps.")
@shared("python")
@option(
    "--out",
    "Folder for the trace; default: below the runs folder.",
    click.Path(path_type=Path),
)
@option("--sandbox", "Run a program from elsewhere in the sandbox.", is_flag=True)
@option(
    "--trust-code",
    "Allow the sandbox `none`, which confines nothing.",
    is_flag=True,
    default=None,
)
@shared("output-format", "program")
def watch(
    preset: str,
    seed: int | None,
    patterns: tuple[str, ...],
    max_time: float | None,
    training_time: float | None,
    stop_after: int | None,
    python: str | None,
    out: Path | None,
    sandbox: bool,
    trust_code: bool | None,
    output_format: str,
    program: tuple[str, ...],
) -> int:
    """Run a PROGRAM of yours under the probe, unmodified, and keep the trace.

    PROGRAM is a script, a notebook or `-m package` with its arguments, or `-- torchrun ...`. It
    runs as you run it: your interpreter, folder, files and network. The exit code is the program's
    own.
    """
    settings = resolve(
        {
            "python": python,
            "trust_code": trust_code,
            "max_time": max_time,
        }
    ).settings
    read = read_program(program_words(program))
    folder = out or fresh_folder(
        read.entry.stem,
        settings.runs_dir / "traces",
    )
    options = WatchOptions(
        folder=folder,
        preset=preset,
        seed=seed,
        patterns=patterns,
        max_time=training_time,
        stop_after=stop_after,
        python=settings.python,
    )
    with calling(max_time) as stop:
        if sandbox:
            watched = _boxed(read, options, settings, stop)
        else:
            # Its output goes to stderr where stdout is kept for a machine.
            stdout = None if output_format == "full" else STDERR
            watched = watch_program(
                read, options, stdin=stdin_for_programs(), stdout=stdout, stop=stop
            )
    show(
        watch_document(watched, f"Watched {' '.join(program)}"),
        output_format,
    )
    code = watched.outcome.exit_code
    if code is None:
        return 2
    return code if code >= 0 else 128 - code


def _boxed(program: Program, options: WatchOptions, settings: Settings, stop: Stop) -> Watched:
    """A program from elsewhere: in the sandbox, its output on stderr."""
    from reenact.probe.boxed import watch_boxed

    def tell(text: str) -> None:
        click.echo(text, err=True, nl=False)

    cleaner = PlainText()
    tier = sandbox_for(settings)
    watched = watch_boxed(
        program,
        options,
        tier,
        stop=stop,
        on_output=lambda data: tell(cleaner.feed(data)),
    )
    tell(cleaner.finish())
    return watched


@command(context_settings=PROGRAM)
@shared("python")
@defaulted("--max-time", SECONDS, 120.0, "Seconds that the whole command may take.")
@shared("output-format", "program")
def graph(
    python: str | None, max_time: float, output_format: str, program: tuple[str, ...]
) -> ExitCode:
    """Show the model of a PROGRAM: layers, shapes, weights, loss, optimiser and task.

    The program is run until its first few training steps are done, and is then ended.
    """
    settings = resolve({"python": python}).settings
    with (
        tempfile.TemporaryDirectory(prefix="reenact-graph-") as folder,
        stopping_gently(max_time) as stop,
    ):
        options = WatchOptions(
            folder=Path(folder) / "trace",
            stop_after=FIRST_STEPS,
            python=settings.python,
        )
        watched = watch_program(
            read_program(program_words(program)), options, stdout=STDERR, stop=stop
        )
    found = watched.trace.graph if watched.trace else None
    if found is None:
        says = f"No model was seen in training. {watched.outcome.sentence}"
        raise Inconclusive(
            says,
            next_step=f"reenact watch {' '.join(program)}",
        )
    show(
        graph_document(found, f"Model of {' '.join(program)}"),
        output_format,
    )
    return ExitCode.OK
