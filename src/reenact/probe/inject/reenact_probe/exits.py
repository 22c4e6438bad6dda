"""The end of the program as its user sees it: tracebacks without frames of the probe, and why the
program, or a library that reads its command line, ended it.

An interpreter forgets a `SystemExit`: what was printed is noted where `sys.exit` or `exit` is
called.
"""

from __future__ import annotations

import builtins
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
    quitter = type(getattr(builtins, "exit", None))
    if quitter.__module__ == "_sitebuiltins":
        before(quitter, "__call__", _quits)
    when_imported("click.exceptions", _watch_click)


@guarded("click")
def _watch_click(exceptions: Library) -> None:
    before(
        exceptions.UsageError,
        "show",
        lambda error, *_, **__: _shown.append(error),
    )


def usage_error() -> Facts | None:
    """The exit with an error that a library chose last; none where there was none."""
    return dict(_noted) or None


def _hiding(original: Function) -> Function:
    def excepthook(
        kind: type[BaseException], error: BaseException, trail: TracebackType | None
    ) -> None:
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


def _quits(_: Any, status: Any = None) -> None:
    if status not in (None, 0):
        note(status, sys._getframe(1))


@guarded("exit-status")
def note(status: Any, caller: FrameType) -> None:
    """Keep who ends the program, where, and what a library says of the command line."""
    _noted.clear()
    every = [(frame, frame_facts(frame, frame.f_lineno)) for frame in _outwards(caller)]
    frames = [frame for frame, facts in every if facts["owner"] != PROBE]
    stack = [facts for _, facts in every if facts["owner"] != PROBE]
    if not stack:
        return
    by = stack[0]["module"].partition(".")[0]
    said = _of_library(status, frames)
    if stack[0]["owner"] == PROGRAM:
        by = PROGRAM
        said = (
            "" if isinstance(status, int) else str(status),
            [],
        )
    if said is None:
        return
    message, missing = said
    own = next(
        (frame for frame, facts in zip(frames, stack) if facts["owner"] == PROGRAM),
        None,
    )
    lines = traceback.extract_stack(own, 1) if own is not None else None
    frames_noted = [
        [
            one["file"],
            one["line"],
            one["function"],
            "",
        ]
        for one in stack[:MAX_FRAMES]
    ]
    _noted.update(
        {
            "type": "SystemExit",
            "message": message[:MAX_TEXT],
            "file": None,
            "place": [
                own.f_code.co_filename,
                own.f_lineno,
                0,
                0,
                0,
            ]
            if own is not None
            else None,
            "source": lines[0].line if lines else None,
            "frames": frames_noted[::-1],
            "bases": [base.__name__ for base in SystemExit.__mro__],
            "facts": {
                "module": "builtins",
                "stack": stack[:MAX_FRAMES][::-1],
                "raised": True,
                "by": by,
                # What is not a number is printed, and the code is 1.
                "exit_code": status & 0xFF if isinstance(status, int) else 1,
                "missing_arguments": missing[:_MAX_MISSING],
            },
        }
    )


def _of_library(
    status: Any,
    frames: list[FrameType],
) -> tuple[str, list[str]] | None:
    if not isinstance(status, int):
        return None
    return _of_argparse(frames) or (_of_click(_shown[-1]) if _shown else None)


def _outwards(frame: FrameType | None) -> Any:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _of_argparse(frames: list[FrameType]) -> tuple[str, list[str]] | None:
    """What `ArgumentParser.error` says, and the required arguments that were not given."""
    for frame in frames:
        if frame.f_globals.get("__name__") != "argparse" or frame.f_code.co_name != "error":
            continue
        parser = frame.f_locals["self"]
        message = frame.f_locals["message"]
        return f"{parser.prog}: error: {message}", _missing_in(parser)
    return None


def _missing_in(parser: Any) -> list[str]:
    """What a parser requires and was not given, as it would be typed; options come before
    positions.
    """
    actions = [action for action in parser._actions if action.required and not _is_given(action)]
    for group in parser._mutually_exclusive_groups:
        if group.required and not any(map(_is_given, group._group_actions)):
            actions.append(group._group_actions[0])
    missing: list[str] = []
    for action in sorted(actions, key=lambda action: not action.option_strings):
        missing.append(
            " ".join(
                [
                    *action.option_strings[-1:],
                    *_values_of(action),
                ]
            )
        )
        below = (
            next(
                iter(action.choices.values()),
                None,
            )
            if isinstance(action.choices, dict)
            else None
        )
        # A command of its own arguments.
        if hasattr(below, "_actions"):
            missing += _missing_in(below)
    return missing


def _is_given(action: Any) -> bool:
    return any(word.partition("=")[0] in action.option_strings for word in sys.argv[1:])


def _values_of(action: Any) -> list[str]:
    """The first of its choices, else its name in capitals, as often as it takes a value."""
    if action.nargs == 0:
        return []
    choices = [str(choice) for choice in action.choices or ()]
    name = action.metavar if isinstance(action.metavar, str) else action.dest
    value = choices[0] if choices else str(name).upper()
    return [value] * (action.nargs if isinstance(action.nargs, int) else 1)


def _of_click(error: Any) -> tuple[str, list[str]] | None:
    """What a usage error of click says, and the required arguments that were not given."""
    context = error.ctx
    if context is None:
        return f"Error: {error.format_message()}", []
    missing = []
    for parameter in context.command.params:
        if parameter.required and context.params.get(parameter.name) is None:
            options = parameter.opts[-1:] if parameter.param_type_name == "option" else []
            missing.append(
                " ".join(
                    [
                        *options,
                        str(parameter.name).upper(),
                    ]
                )
            )
    return f"Error: {error.format_message()}", missing
