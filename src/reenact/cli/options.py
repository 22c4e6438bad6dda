"""Options, their types and services that several commands share.

Every numeric option has one of the types below, so that `abc`, nan, infinities and numbers out of range are
refused with exit code 2 and a sentence with the option, what is expected and what was received.
"""

from __future__ import annotations

import math
import os
import shutil
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from types import FrameType
from typing import Any, TypeVar

import click

from reenact.cli.ending import ENDING
from reenact.errors import InputError
from reenact.plain import plain
from reenact.report.document import Document
from reenact.report.render import FORMATS, render
from reenact.settings import MOST_CALLS, MOST_DOLLARS, MOST_SECONDS, MOST_TOKENS
from reenact.types import Stop

Value = TypeVar("Value")
Verb = TypeVar("Verb", bound=Callable[..., Any])


class Count(click.IntRange):
    """A whole number between two bounds, both allowed."""

    def __init__(self, least: int, most: int) -> None:
        super().__init__(least, most)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            self.fail(
                f"expected a whole number from {self.min} to {self.max}. Received: {value!r}.", param, ctx
            )


class Amount(click.FloatRange):
    """A finite number between two bounds; `above` leaves out the lower one."""

    def __init__(self, least: float | None = None, most: float | None = None, *, above: bool = False) -> None:
        super().__init__(least, most, min_open=above)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        try:
            number = float(super().convert(value, param, ctx))
        except click.BadParameter:
            number = math.nan
        if not math.isfinite(number):
            self.fail(f"expected {self._expected()}. Received: {value!r}.", param, ctx)
        return number

    def _expected(self) -> str:
        if self.min is None or self.max is None:
            return "a finite number"
        least = f"above {self.min:g} and" if self.min_open else f"from {self.min:g}"
        return f"a number {least} up to {self.max:.12g}"


class Money(click.ParamType):  # type: ignore[type-arg]  # click 8.2 has no type arguments here
    """An amount of money, exact to the last digit."""

    name = "dollars"
    most = Decimal(MOST_DOLLARS)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Decimal:
        try:
            amount = Decimal(value)
        except InvalidOperation:
            amount = Decimal("nan")
        if not (amount.is_finite() and 0 <= amount <= self.most):
            self.fail(
                f"expected US dollars from 0 to {self.most}, such as 2.50. Received: {value!r}.", param, ctx
            )
        return amount


class Checked(click.ParamType):  # type: ignore[type-arg]  # as above
    """A text that a function of the package can read; its InputError is the refusal."""

    name = "text"

    def __init__(self, check: Callable[[str], object]) -> None:
        self.check = check

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            self.check(value)
        except InputError as error:
            self.fail(error.sentence, param, ctx)
        return str(value)


def _diagnose_budget(text: str) -> None:
    from reenact.trials.budget import diagnose_budget

    diagnose_budget(text)


def _repair_budget(text: str) -> None:
    from reenact.trials.budget import repair_budget

    repair_budget(text)


SECONDS = Amount(0, MOST_SECONDS, above=True)
RUN_SECONDS = Amount(1, MOST_SECONDS)
"""Of one execution, which needs a second to begin at all."""
MONEY = Money()
TOKENS = Count(1, MOST_TOKENS)
CALLS = Count(1, MOST_CALLS)
STEPS = Count(1, 10**12)
CONFIDENCE = Amount(0, 1)
WORKERS = Count(0, 1024)
"""0 is one for each core."""
DIAGNOSE_BUDGET = Checked(_diagnose_budget)
REPAIR_BUDGET = Checked(_repair_budget)
RANDOM_SEED = Count(0, 2**32 - 1)
"""What every library's generator accepts."""
ROWS = Count(1, 10**9)
REPEATS = Count(1, 10_000)


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


def show(document: Document, chosen: str) -> None:
    """Print a document on stdout; colour only on a terminal that wants it."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    width = shutil.get_terminal_size((100, 24)).columns
    click.echo(render(document, chosen, width=max(width, 60), color=color), nl=False)


def echo(text: str, *, err: bool = False) -> None:
    """Print text that may hold words, names or paths from outside."""
    click.echo(plain(text), err=err)


@contextmanager
def stopping_gently(seconds: float | None = None) -> Iterator[Stop]:
    """The first Ctrl-C (or SIGTERM) asks to stop at the next safe place, the second stops at once.

    `seconds` is the wall time of the whole command.
    """
    stop, ended = Stop(seconds, began=ENDING.began), threading.Event()

    def on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        if late := ENDING.too_late():
            raise late
        ENDING.heard()
        if stop.by_user:
            raise KeyboardInterrupt
        stop.ask()
        # The signal may have come in the middle of another line.
        with suppress(RuntimeError):
            click.echo("Stopping at the next safe place. Press Ctrl-C again to stop at once.", err=True)

    before = {number: signal.signal(number, on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
    ENDING.bound(stop, ended)
    try:
        yield stop
    finally:
        ended.set()
        for number, handler in before.items():
            signal.signal(number, handler)


def renamed_option(old: str, old_value: Value | None, new: str, value: Value | None) -> Value | None:
    """The value of an option whose old name still works, with a note."""
    if old_value is None:
        return value
    echo(f"reenact: {old} is now {new}; the old name goes with the next release.", err=True)
    return old_value if value is None else value


def listed(given: tuple[str, ...]) -> tuple[str, ...]:
    """The words of an option that may be given several times, and several words at a time with commas."""
    return tuple(word.strip() for part in given for word in part.split(",") if word.strip())
