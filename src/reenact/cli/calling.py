"""How a command calls the API: its Ctrl-C and time limit, its progress, its command line for
the journal.
"""

import difflib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import click

from reenact.api.options import grouped
from reenact.api.session import COMMAND, NOTICE, PROGRAM_STDIN
from reenact.cli.ending import ENDING
from reenact.cli.options import echo, is_quiet, show
from reenact.cli.suspending import suspending_together
from reenact.host_program import Stream
from reenact.probe.answers import NO_KEYBOARD
from reenact.report.document import Document
from reenact.settings import resolve
from reenact.types import ExitCode, Stop

PROGRAM = {"ignore_unknown_options": True, "allow_interspersed_args": False}
"""Everything after the program's name belongs to the program."""
JUDGING = "Stopping; what was seen so far is judged. Press Ctrl-C again to leave at once."
STDIN = 0
STDERR = 2
"""Where a user's program prints to: stdout belongs to the result."""


def answer(
    call: Callable[..., Any],
    view: Callable[[Any], Document],
    *named: Any,
    output_format: str,
    judges: bool = False,
    answered: bool = False,
    **given: Any,
) -> int:
    """Call a function of the API with the options of a command, print its result, return its exit
    code.

    `judges`: the first Ctrl-C asks it for a verdict on what was seen. `answered`: our stdin
    is for the user's program.
    """
    stdin = stdin_for_programs() if answered else NO_KEYBOARD
    with calling(
        given.get("max_time"),
        judges=judges,
        stdin=stdin,
    ) as stop:
        result = call(
            *named,
            **grouped(call, given),
            progress=not is_quiet(),
            cancel=stop,
        )
    document = view(result)
    show(document, output_format)
    if document.exit_code is None:
        return ExitCode.OK
    return document.exit_code


@contextmanager
def calling(
    max_time: float | None = None, *, judges: bool = False, stdin: Stream = NO_KEYBOARD
) -> Iterator[Stop]:
    """The `cancel` of a call: a first Ctrl-C ends it gently, or with a verdict; a second at once.
    `stdin` is that of the user's program.
    """
    seconds = resolve({"max_time": max_time}).settings.max_time
    with stopping_gently(seconds, judges=judges) as stop:
        command = COMMAND.set(tuple(sys.argv[1:]))
        notice = NOTICE.set(lambda text: echo(text, err=True))
        program_stdin = PROGRAM_STDIN.set(stdin)
        try:
            yield stop
        finally:
            COMMAND.reset(command)
            NOTICE.reset(notice)
            PROGRAM_STDIN.reset(program_stdin)


@contextmanager
def stopping_gently(
    seconds: float | None = None,
    *,
    judges: bool = False,
) -> Iterator[Stop]:
    """The first Ctrl-C (or SIGTERM) asks to stop at the next safe place, the second stops at once.

    `seconds` is the wall time of the whole command. Where it `judges`, the first Ctrl-C asks for a
    verdict on what was seen; SIGTERM does not, since who sends it does not wait.
    """
    stop = Stop(seconds, began=ENDING.began)
    ended = threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:
        del frame
        if late := ENDING.too_late():
            raise late
        if judges and number == signal.SIGINT and not (stop.verdict_asked or stop.by_user):
            stop.ask_verdict()
            ENDING.bound(stop, ended)
            with suppress(RuntimeError):
                echo(JUDGING, err=True)
            return
        ENDING.count_signal()
        hurried = stop.by_user or stop.verdict_asked
        stop.ask()
        if hurried:
            raise KeyboardInterrupt
        # The signal may have come in the middle of another line.
        with suppress(RuntimeError):
            echo(
                "Stopping at the next safe place. Press Ctrl-C again to stop at once.",
                err=True,
            )

    before = {
        number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)
    }
    ENDING.bound(stop, ended)
    try:
        with suspending_together():
            yield stop
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def stdin_for_programs() -> Stream:
    """Our stdin for a user's program, as without us; none where we run in the background of a
    terminal.

    There the program, which is in a session of its own, would take keys away from the shell.
    """
    try:
        os.fstat(STDIN)
        in_front = not os.isatty(STDIN) or os.tcgetpgrp(STDIN) == os.getpgrp()
    except OSError:
        # Closed, or a terminal that is not ours.
        in_front = False
    return STDIN if in_front else NO_KEYBOARD


def program_words(words: tuple[str, ...]) -> list[str]:
    """`SCRIPT -- ARGS` is `SCRIPT ARGS`; a leading `--` marks a launcher line and stays."""
    context = click.get_current_context(silent=True)
    if len(words) > 1 and words[1] == "--" and words[0] != "--":
        return [words[0], *words[2:]]
    if context is None or not words or words[0] == "--":
        return list(words)
    own = {
        name for option in context.command.params for name in option.opts if name.startswith("--")
    }
    names = [word.partition("=")[0] for word in words]
    # An option of ours after the program's name goes to the program: say so, the program may have
    # one. One in front of it that is not ours is refused.
    if words[0].startswith("-") and words[0] not in ("-m", "--module"):
        near = difflib.get_close_matches(names[0], own)
        raise click.NoSuchOption(names[0], possibilities=near, ctx=context)
    for name in (name for name in names[1:] if name in own):
        first = f"Options of reenact come first: reenact {context.info_name} {name} ... {words[0]}"
        echo(
            f"reenact: {name} is after the program's name, so the program gets it. {first}",
            err=True,
        )
    return list(words)
