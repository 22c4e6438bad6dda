"""How a verb calls the API: its Ctrl-C and time limit, its progress, its command line for the journal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from reenact.api.session import COMMAND, NOTICE
from reenact.cli.options import echo, stopping_gently
from reenact.settings import resolve
from reenact.types import Stop

STDERR = 2
"""Where a user's program prints to: stdout belongs to the result."""
Verb = TypeVar("Verb", bound=Callable[..., Any])


@contextmanager
def calling(max_time: float | None = None) -> Iterator[Stop]:
    """The `cancel` of a call: a first Ctrl-C ends it gently, a second at once."""
    seconds = resolve({"max_time": max_time}).settings.max_time
    with stopping_gently(seconds) as stop:
        command = COMMAND.set(tuple(sys.argv[1:]))
        notice = NOTICE.set(lambda text: echo(text, err=True))
        try:
            yield stop
        finally:
            COMMAND.reset(command)
            NOTICE.reset(notice)


def trust_journal_option(verb: Verb) -> Verb:
    """`--trust-journal`, for commands that continue an unfinished run."""
    option = click.option(
        "--trust-journal",
        is_flag=True,
        help="Continue an unfinished run of this command also when you did not record it on this machine.",
    )
    return option(verb)
