"""The end of the program as its user sees it: tracebacks without frames of the probe, and why a library that
reads the command line ended the program.

An interpreter forgets a `SystemExit`: what argparse or click printed is noted where they call `sys.exit`."""

from __future__ import annotations

import os
import sys
import traceback
from types import FrameType, TracebackType
from typing import Any

from reenact_probe.crash import MAX_FRAMES, MAX_TEXT, PROBE, PROGRAM, frame_facts
from reenact_probe.guard import before, guarded, patch
from reenact_probe.late import when_imported
from reenact_probe.types import Facts, Function, Library

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_MAX_CHAIN = 20
_MAX_MISSING = 12
_noted: Facts = {}
_shown: list[BaseException] = []
"""The usage error that click showed last: it is forgotten before the program is ended."""


def install() -> None:
    """Called once at the start of a process that is watched as a whole."""
    _noted.clear()
    patch(sys, "excepthook", _hiding)
    patch(sys, "exit", _noting)
    when_imported("click.exceptions", _watch_click)


@guarded("click")
def _watch_click(exceptions: Library) -> None:
    before(exceptions.UsageError, "show", lambda error, *_, **__: _shown.append(error))


def usage_error() -> Facts | None:
    """The exit with an error that a library chose last; none where there was none."""
    return dict(_noted) or None


def _hiding(original: Function) -> Function:
    def excepthook(kind: type[BaseException], error: BaseException, trail: TracebackType | None) -> None:
        shown = _without_probe(trail)
        kept = [(link, link.__traceback__) for link in _chain(error)]
        try:
            for link, whole in kept:
                link.__traceback__ = shown if link is error else _without_probe(whole)
            original(kind, error, shown)
        finally:
            # What is noted of the exception later is read from all of its frames.
            for link, whole in kept:
                link.__traceback__ = whole

    return excepthook


def _chain(error: BaseException | None) -> list[BaseException]:
    links: list[BaseException] = []
    while error is not None and error not in links and len(links) < _MAX_CHAIN:
        links.append(error)
        error = error.__cause__ or error.__context__
    return links


def _without_probe(trail: TracebackType | None) -> TracebackType | None:
    """A copy of a traceback that has no frame of the probe."""
    entries: list[TracebackType] = []
    while trail is not None:
        entries.append(trail)
        trail = trail.tb_next
    shown: TracebackType | None = None
    for entry in reversed(entries):
        if not os.path.abspath(entry.tb_frame.f_code.co_filename).startswith(_HERE):
            shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown


def _noting(original: Function) -> Function:
    def exit(status: Any = None) -> Any:  # noqa: A001 - it takes the place of sys.exit
        if status not in (None, 0):
            note(status, sys._getframe(1))
        return original(status)

    return exit


@guarded("exit-status")
def note(status: Any, caller: FrameType) -> None:
    """Keep what a library that ends the program says of the command line."""
    _noted.clear()
    frames = list(_outwards(caller))
    stack = [frame_facts(frame, frame.f_lineno) for frame in frames]
    if not isinstance(status, int) or stack[0]["owner"] in (PROGRAM, PROBE):
        return
    said = _of_argparse(frames) or (_of_click(_shown[-1]) if _shown else None)
    if said is None:
        return
    message, missing = said
    own = next((frame for frame, facts in zip(frames, stack) if facts["owner"] == PROGRAM), None)
    lines = traceback.extract_stack(own, 1) if own is not None else None
    frames_noted = [[one["file"], one["line"], one["function"], ""] for one in stack[:MAX_FRAMES]]
    _noted.update(
        {
            "type": "SystemExit",
            "message": message[:MAX_TEXT],
            "file": None,
            "place": [own.f_code.co_filename, own.f_lineno, 0, 0, 0] if own is not None else None,
            "source": lines[0].line if lines else None,
            "frames": frames_noted[::-1],
            "bases": [base.__name__ for base in SystemExit.__mro__],
            "facts": {
                "module": "builtins",
                "stack": stack[:MAX_FRAMES][::-1],
                "raised": True,
                "by": stack[0]["module"].partition(".")[0],
                "exit_code": status,
                "missing_arguments": missing[:_MAX_MISSING],
            },
        }
    )


def _outwards(frame: FrameType | None) -> Any:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _of_argparse(frames: list[FrameType]) -> tuple[str, list[str]] | None:
    """What `ArgumentParser.error` says, and the required arguments that were not given."""
    for frame in frames:
        if frame.f_globals.get("__name__") != "argparse" or frame.f_code.co_name != "error":
            continue
        parser, message = frame.f_locals["self"], frame.f_locals["message"]
        missing = []
        for action in parser._actions:
            given = any(word.partition("=")[0] in action.option_strings for word in sys.argv[1:])
            if action.required and not given:
                value = str(action.metavar or action.dest).upper()
                missing.append(" ".join([*action.option_strings[-1:], value]))
        return f"{parser.prog}: error: {message}", missing
    return None


def _of_click(error: Any) -> tuple[str, list[str]] | None:
    """What a usage error of click says, and the required arguments that were not given."""
    context = error.ctx
    if context is None:
        return f"Error: {error.format_message()}", []
    missing = []
    for parameter in context.command.params:
        if parameter.required and context.params.get(parameter.name) is None:
            options = parameter.opts[-1:] if parameter.param_type_name == "option" else []
            missing.append(" ".join([*options, str(parameter.name).upper()]))
    return f"Error: {error.format_message()}", missing
