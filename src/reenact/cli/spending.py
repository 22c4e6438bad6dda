"""`--dry-run`, and the question before a command spends more than a dollar."""

import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import click

from reenact.api.estimates import Estimate
from reenact.cli.options import echo, is_quiet

ASKED_ABOVE = Decimal(1)
"""US dollars: what costs more is asked about."""

dry_run = click.option(
    "--dry-run",
    is_flag=True,
    help="Only say what it would cost; nothing is run or asked.",
)


def may_begin(
    estimate: Callable[[], Estimate],
    *,
    dry_run: bool,
    max_cost: Decimal | None = None,
) -> bool:
    """Whether to go on: not in a dry run. At a terminal the user is asked above one dollar; where
    there is none, never.
    """
    if dry_run:
        echo(f"Estimate: {estimate().sentence}.")
        return False
    limited = max_cost is not None and max_cost <= ASKED_ABOVE
    if limited or is_quiet() or not at_terminal():
        return True
    found = estimate()
    if found.money is not None and found.money > ASKED_ABOVE:
        echo(f"Estimate: {found.sentence}.", err=True)
        click.confirm("Go on?", abort=True, err=True)
    return True


def at_terminal() -> bool:
    """Whether somebody is there to answer."""
    streams: tuple[Any, ...] = (sys.stdin, sys.stderr)
    return all(stream is not None and stream.isatty() for stream in streams)
