"""Watch a program: run it under the probe, read the trace, say how it ended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO

from reenact.errors import InputError
from reenact.probe.classify import Facts, classify
from reenact.probe.naming import make_private
from reenact.probe.options import WatchOptions
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.read import is_trace, read_crash_notes, read_trace, was_stopped
from reenact.probe.root import Root
from reenact.probe.run import Ended, Screen, default_python, run
from reenact.probe.trace import Trace
from reenact.program.framework import Framework, framework_of
from reenact.program.program import Program
from reenact.redact import redact_bytes
from reenact.types import Stop

NOTEBOOK = "notebook.py"


@dataclass(frozen=True, slots=True)
class Watched:
    """A watched run: how it ended, what was seen, where the trace lies."""

    outcome: Outcome
    trace: Trace | None
    """None when the program trained nothing."""
    folder: Path
    seconds: float


def watch(
    program: Program,
    options: WatchOptions,
    *,
    stdout: int | IO[bytes] | None = None,
    screen: Screen | None = None,
    stop: Stop | None = None,
    on_poll: Callable[[], None] | None = None,
) -> Watched:
    """Run a user's program under the probe, unmodified. Its output goes where ours goes unless asked
    otherwise.
    """
    options = prepare(program, options)
    command, root = _command(program, options)
    try:
        ended = run(
            command, program.working, options, stdout=stdout, screen=screen, stop=stop, on_poll=on_poll
        )
    except OSError as error:
        what = error.filename or command[0]
        named = "the interpreter " if what == command[0] and not program.launch.launcher else ""
        note = f"{named}{what} could not be started ({error.strerror or error})"
        return Watched(Outcome(OutcomeKind.NOT_STARTED, note=note), None, options.folder, 0.0)
    return read_watched(ended, options, root)


def read_watched(ended: Ended, options: WatchOptions, root: Root) -> Watched:
    """The result of a run that has ended."""
    _hide_in(options.folder / NOTEBOOK)
    trace = read_trace(options.folder, root=root) if is_trace(options.folder) else None
    crash = (trace.crash if trace else None) or read_crash_notes(options.folder, root)
    stopped = was_stopped(options.folder)
    steps = trace.step_count if trace else 0
    limit = f"{steps} steps"
    if ended.timed_out:
        limit = _limit(ended.seconds, options.max_time)
    facts = Facts(
        exit_code=ended.exit_code,
        steps=steps,
        crash=crash,
        timed_out=ended.timed_out,
        interrupted=ended.interrupted,
        stopped=stopped,
        blind=trace is not None and bool(trace.happened("probe-off")),
        limit=limit,
    )
    return Watched(classify(facts), trace, options.folder, ended.seconds)


def _hide_in(script: Path) -> None:
    """A copy of the user's notebook had to be whole while it ran."""
    if script.is_file():
        script.write_bytes(redact_bytes(script.read_bytes()))


def _limit(seconds: float, most: float | None) -> str:
    """The limit that a run reached: its own, or that of the whole command."""
    return f"{most:g} s" if most is not None and seconds >= most else "the time of the whole command"


def prepare(program: Program, options: WatchOptions) -> WatchOptions:
    """Options with what is left open decided, and a folder that holds no older trace."""
    if options.shim is None:
        old = framework_of(program) in (Framework.TF_KERAS, Framework.KERAS_OLD)
        options = replace(options, shim=old)
    folder = options.folder if options.folder.is_absolute() else Path.cwd() / options.folder
    if folder.exists() and any(folder.iterdir()):
        raise InputError(
            f"A trace needs a folder of its own. Received: {folder}, which is not empty.",
            next_step="Choose another name, or remove the old trace.",
        )
    make_private(folder)
    return replace(options, folder=folder)


def _command(program: Program, options: WatchOptions) -> tuple[tuple[str, ...], Root]:
    python = default_python(options.python)
    if not program.is_notebook:
        return program.launch.command(python), Root(program.folder)
    script = options.folder / NOTEBOOK
    script.touch(mode=0o600)
    script.write_text(program.script(), encoding="utf-8")
    renamed = {str(script): PurePosixPath(program.entry)}
    return program.launch.command(python, str(script)), Root(program.folder, renamed)
