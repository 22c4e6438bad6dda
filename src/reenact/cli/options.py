"""Options and services that several verbs share."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, TypeVar

import click

from reenact.report.render import FORMATS, render
from reenact.report.sheet import Sheet
from reenact.types import Stop

Verb = TypeVar("Verb", bound=Callable[..., Any])


def output_format(verb: Verb) -> Verb:
    """`--output-format full|concise|json|...`."""
    option = click.option(
        "--output-format",
        type=click.Choice(FORMATS),
        default="full",
        show_default=True,
        help="How to print the result.",
    )
    return option(verb)


def show(sheet: Sheet, chosen: str) -> None:
    """Print a sheet on stdout; colour only on a terminal that wants it."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(render(sheet, chosen, width=max(width, 60), color=color), nl=False)


@contextmanager
def stopping_gently() -> Iterator[Stop]:
    """The first Ctrl-C (or SIGTERM) asks to stop at the next safe place, the second stops at once."""
    stop = Stop()

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if stop.asked:
            raise KeyboardInterrupt
        stop.ask()
        click.echo("Stopping at the next safe place. Press Ctrl-C again to stop at once.", err=True)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def listed(given: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an option that may be given several times, and several words at a time with commas."""
    return tuple(word.strip() for part in given for word in part.split(",") if word.strip())
