"""`--trust-journal`, and the journal of a command that has it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from reenact.journal import Journal

TRUST = "reenact.trust_journal"
Verb = TypeVar("Verb", bound=Callable[..., Any])


def trust_journal_option(verb: Verb) -> Verb:
    """For commands that continue an unfinished run; `open_journal` knows what was given."""
    option = click.option(
        "--trust-journal",
        is_flag=True,
        expose_value=False,
        callback=_keep,
        help="Continue an unfinished run of this command also when you did not record it on this machine.",
    )
    return option(verb)


def open_journal(folder: Path) -> Journal:
    """The journal to work with, trusted when the command line says so."""
    return Journal.open(folder, trust=click.get_current_context().meta.get(TRUST, False))


def _keep(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    ctx.meta[TRUST] = given
