"""Watch a program: run it under the probe, read the trace, say how it ended.

It is the user's own program: it runs in their interpreter, folder and network, as they run it
themselves.
"""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from reenact.errors import InputError, require
from reenact.host_program import Stream, start_users_program
from reenact.probe import injected
from reenact.probe.answers import NO_KEYBOARD, Answers
from reenact.probe.looks.listener import Listener
from reenact.probe.looks.noted import Noted
from reenact.probe.options import WatchOptions, make_private
from reenact.probe.outcome import Outcome, OutcomeKind, classify
from reenact.probe.read import is_trace, read_crash_notes, read_trace, was_stopped
from reenact.probe.surroundings import standard_library
from reenact.probe.terminal import ProgramTerminal, Screen
from reenact.probe.trace import Root, Trace
from reenact.program.program import Program
from reenact.program.training.framework import Framework, framework_of
from reenact.redact import redact_bytes
from reenact.sandbox.processes import descendants, end_all
from reenact.types import Stop

NOTEBOOK = "notebook.py"
WAITING = "waiting"
"""File of a process that has nothing left to do but to wait for the weights of another."""
POLL_S = 0.1
GRACE_S = 4.0
"""What a program gets to end by itself: less than a waiting user gives us."""
_SET_PARENT_DEATH_SIGNAL = 1
"""Option of prctl(2)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How the process ended."""

    exit_code: int
    """Negative for a signal."""
    seconds: float
    timed_out: bool = False
    interrupted: bool = False
    verdict_asked: bool = False
    """Whether the user ended it to have it judged."""


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
    stdin: Stream = NO_KEYBOARD,
    stdout: Stream = None,
    screen: Screen | None = None,
    answers: Answers | None = None,
    stop: Stop | None = None,
    look: Callable[[], None] = lambda: None,
) -> Watched:
    """Run a user's program under the probe, unmodified. Its output goes where ours goes unless
    asked otherwise; what goes to the terminal of `screen` goes through it. It has no keyboard
    unless it gets one as `stdin`; `answers` hears what is typed there. `look` is called again and
    again while it runs.
    """
    options = prepare(program, options)
    script = options.folder / NOTEBOOK
    if program.is_notebook:
        script.touch(mode=0o600)
        script.write_text(program.script(), encoding="utf-8")
    python = injected.default_python(options.python)
    command = program.launch.command(
        python,
        str(script) if program.is_notebook else None,
    )
    try:
        # What runs next to the watched run says nothing that the watched run does not say.
        stderr = subprocess.DEVNULL if options.experiments else None
        with ProgramTerminal(
            screen,
            stdout,
            stderr,
            stdin,
            answers,
        ) as terminal:
            ended = _run(command, program, options, terminal, stop, look)
    except OSError as error:
        what = error.filename or command[0]
        named = "the interpreter " if what == command[0] and not program.launch.launcher else ""
        note = f"{named}{what} could not be started ({error.strerror or error})"
        return Watched(
            Outcome(OutcomeKind.NOT_STARTED, note=note),
            None,
            options.folder,
            0.0,
        )
    return read_watched(ended, options, program_root(program, options.folder))


def prepare(program: Program, options: WatchOptions) -> WatchOptions:
    """Options with what is left open decided, and a folder that holds no older trace."""
    require("train")
    shim = options.shim
    if shim is None:
        shim = framework_of(program) in (Framework.TF_KERAS, Framework.KERAS_OLD)
    folder = options.folder if options.folder.is_absolute() else Path.cwd() / options.folder
    if folder.exists() and any(folder.iterdir()):
        why = f"A trace needs a folder of its own. Received: {folder}, which is not empty."
        raise InputError(why, next_step="Choose another name, or remove the old trace.")
    make_private(folder)
    return replace(options, folder=folder, shim=shim)


def program_root(program: Program, folder: Path) -> Root:
    """Where places of a run count from, whose trace lies in this folder."""
    script = folder / NOTEBOOK
    # A folder may have been given relative to where the command was started: a program knows no
    # such name.
    names = (
        (
            str(script),
            str(script.absolute()),
            str(script.resolve()),
        )
        if program.is_notebook
        else ()
    )
    return Root(
        program.folder,
        dict.fromkeys(names, PurePosixPath(program.entry)),
    )


def read_watched(ended: Ended, options: WatchOptions, root: Root) -> Watched:
    """The result of a run that has ended."""
    script = options.folder / NOTEBOOK
    if script.is_file():
        # A copy of the user's notebook had to be whole while it ran.
        script.write_bytes(redact_bytes(script.read_bytes()))
    trace = read_trace(options.folder, root=root) if is_trace(options.folder) else None
    steps = trace.step_count if trace else 0
    limit = f"{steps} steps"
    if ended.timed_out:
        own = options.max_time is not None and ended.seconds >= options.max_time
        limit = f"{options.max_time:g} s" if own else "the time of the whole command"
    outcome = classify(
        ended.exit_code,
        (trace.crash if trace else None) or read_crash_notes(options.folder, root),
        trained=steps > 0 or (trace is not None and bool(trace.happened("probe-off"))),
        timed_out=ended.timed_out,
        interrupted=ended.interrupted,
        verdict_asked=ended.verdict_asked,
        stopped=was_stopped(options.folder),
        limit=limit,
        python=injected.default_python(options.python),
    )
    return Watched(outcome, trace, options.folder, ended.seconds)


def _run(
    command: Sequence[str],
    program: Program,
    options: WatchOptions,
    terminal: ProgramTerminal,
    stop: Stop | None,
    look: Callable[[], None],
) -> Ended:
    """Start the command under the probe and wait for it. Raises OSError when it cannot be
    started.
    """
    listener = Listener(Noted(_apart(options))) if options.note_opened else None
    # The script of a notebook lies next to its trace: what it imports lies next to the notebook.
    modules = str(program.folder / program.entry.parent) if program.is_notebook else ""
    try:
        child = start_users_program(
            list(command),
            folder=program.working,
            environment=injected.environment(options, os.environ, modules=modules),
            stdin=terminal.stdin,
            stdout=terminal.stdout,
            stderr=terminal.stderr,
            in_child=_in_child(listener),
        )
    finally:
        if listener is not None:
            listener.started()
    terminal.started(child)
    try:
        return _wait(child, options, stop, look)
    finally:
        if listener is not None:
            listener.close(options.folder)


def _wait(
    child: subprocess.Popen[bytes],
    options: WatchOptions,
    stop: Stop | None,
    look: Callable[[], None],
) -> Ended:
    """Until it ends, its time is up, or the user stops it."""
    began = time.monotonic()
    most = options.max_time
    timed_out = interrupted = False
    try:
        while child.poll() is None and not (timed_out or interrupted):
            look()
            over = most is not None and time.monotonic() - began > most
            if over and not (options.folder / WAITING).exists():
                # Experiments that wait for the end of the training have done what the time was for.
                timed_out = True
            elif stop is not None and stop.asked:
                interrupted = stop.by_user or stop.verdict_asked
                timed_out = not interrupted
            else:
                # `child.wait` with a limit asks the system eighty times a second: in a long
                # training that adds up.
                time.sleep(POLL_S)
    except BaseException:
        _end(child, signal.SIGTERM)
        raise
    if timed_out or interrupted:
        _end(
            child,
            signal.SIGINT if interrupted and options.interrupts else signal.SIGTERM,
        )
    return Ended(
        exit_code=child.returncode,
        seconds=time.monotonic() - began,
        timed_out=timed_out,
        interrupted=interrupted,
        verdict_asked=interrupted and stop is not None and stop.verdict_asked,
    )


def _apart(options: WatchOptions) -> list[str]:
    """Folders in which a look does not count: modules of the interpreter count by its version,
    others are ours.
    """
    python = injected.default_python(options.python)
    ours = [
        str(injected.FOLDER),
        str(options.folder),
        str(options.folder.resolve()),
    ]
    if options.weights is not None:
        ours.append(str(options.weights.parent.resolve()))
    return [*standard_library(python), *ours]


def _in_child(listener: Listener | None) -> Callable[[], None] | None:
    """What the program's process does before it becomes the program."""
    ends = _dies_with_us()
    if listener is None or ends is None:
        return ends
    install = listener.install

    def prepare_child() -> None:
        ends()
        install()

    return prepare_child


def _dies_with_us() -> Callable[[], None] | None:
    """What makes the program end when we are killed and cannot end it ourselves; Linux only.

    The signal comes when the thread that started the program is gone: that is the one that waits
    for it here.
    """
    if not sys.platform.startswith("linux"):
        return None
    # Loaded before the fork: the child of a process with threads should do as little as it can.
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def die_with_parent() -> None:
        prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return die_with_parent


def _end(child: subprocess.Popen[bytes], how: signal.Signals) -> None:
    """Ask the whole group to end, then end it, with whatever it started in groups of its own."""
    below = descendants(child.pid)
    try:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, how)
        child.wait(GRACE_S)
    except subprocess.TimeoutExpired:
        below += descendants(child.pid)
    finally:
        # The program itself may have gone while a process of its ignores the signal.
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        end_all(below)
        child.wait()
