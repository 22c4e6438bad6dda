"""Options that several commands share, their types, and how a command prints.

Every numeric option has one of the types below, so that `abc`, nan, infinities and numbers out of
range are refused with exit code 2 and a sentence with the option, what is expected and what was
received.
"""

import math
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, TypeVar

import click

from reenact.errors import InputError
from reenact.faults.confidence import Word
from reenact.plain import plain
from reenact.report.document import Document
from reenact.report.render import FORMATS, render
from reenact.settings import MOST_CALLS, MOST_DOLLARS, MOST_SECONDS, MOST_TOKENS

Verb = TypeVar("Verb", bound=Callable[..., Any])
FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
NEW_FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(exists=True, file_okay=False, path_type=Path)
NEW_FOLDER = click.Path(file_okay=False, path_type=Path)
DETAILS = "reenact.details"
QUIET = "reenact.quiet"
MODEL = ("model", "max-cost", "max-tokens", "max-calls", "record")
RECORDED = ("fresh", "trust-journal")


class Count(click.IntRange):
    """A whole number between two bounds, both allowed."""

    def __init__(self, least: int, most: int) -> None:
        super().__init__(least, most)

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int:
        try:
            return int(super().convert(value, param, ctx))
        except click.BadParameter:
            expected = f"a whole number from {self.min} to {self.max}"
            self.fail(
                f"expected {expected}. Received: {value!r}.",
                param,
                ctx,
            )


class Amount(click.FloatRange):
    """A finite number between two bounds; `above` leaves out the lower one."""

    def __init__(
        self,
        least: float | None = None,
        most: float | None = None,
        *,
        above: bool = False,
    ) -> None:
        super().__init__(least, most, min_open=above)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        try:
            number = float(super().convert(value, param, ctx))
        except click.BadParameter:
            number = math.nan
        expected = "a finite number"
        if self.min is not None and self.max is not None:
            least = f"above {self.min:g} and" if self.min_open else f"from {self.min:g}"
            expected = f"a number {least} up to {self.max:.12g}"
        if not math.isfinite(number):
            self.fail(
                f"expected {expected}. Received: {value!r}.",
                param,
                ctx,
            )
        return number


class HowSure(Amount):
    """How sure a finding must be: a word, or a number."""

    name = "word|float"

    def __init__(self) -> None:
        super().__init__(0, 1)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if value in set(Word):
            return Word(value).least
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            expected = f"{', '.join(Word)}, or a number from 0 up to 1"
            self.fail(
                f"expected {expected}. Received: {value!r}.",
                param,
                ctx,
            )


class Money(click.ParamType):  # type: ignore[type-arg]  # click 8.2 has no type arguments here
    """An amount of money, exact to the last digit."""

    name = "dollars"
    most = Decimal(MOST_DOLLARS)

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> Decimal:
        try:
            amount = Decimal(value)
        except InvalidOperation:
            amount = Decimal("nan")
        if not (amount.is_finite() and 0 <= amount <= self.most):
            expected = f"US dollars from 0 to {self.most}, such as 2.50"
            self.fail(
                f"expected {expected}. Received: {value!r}.",
                param,
                ctx,
            )
        return amount


class Age(click.ParamType):  # type: ignore[type-arg]  # as above
    """A time like 30d, in seconds."""

    name = "age"
    units: Mapping[str, int] = {"h": 3600, "d": 86_400, "w": 7 * 86_400}

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number, unit = str(value)[:-1], str(value)[-1:]
        if unit not in self.units or not number.isdecimal() or len(number) > 5:
            expected = "a whole number of hours, days or weeks, such as 12h, 30d, 2w"
            self.fail(
                f"expected {expected}. Received: {value!r}.",
                param,
                ctx,
            )
        return float(int(number) * self.units[unit])


class Checked(click.ParamType):  # type: ignore[type-arg]  # as above
    """A budget that this function of `trials.budget` can read; its InputError is the refusal."""

    name = "text"

    def __init__(self, reader: str) -> None:
        self.reader = reader

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        from reenact.trials import budget

        try:
            getattr(budget, self.reader)(value)
        except InputError as error:
            self.fail(error.sentence, param, ctx)
        return str(value)


SECONDS = Amount(0, MOST_SECONDS, above=True)
RUN_SECONDS = Amount(1, MOST_SECONDS)
"""Of one execution, which needs a second to begin at all."""
GPU = "Show scripts the GPU of this machine; `reenact doctor` says what is not stopped then."
MONEY = Money()
TOKENS = Count(1, MOST_TOKENS)
CALLS = Count(1, MOST_CALLS)
STEPS = Count(1, 10**12)
CONFIDENCE = Amount(0, 1)
WORKERS = Count(0, 1024)
"""0 is one for each core."""
DIAGNOSE_BUDGET = Checked("diagnose_budget")
REPAIR_BUDGET = Checked("repair_budget")
RANDOM_SEED = Count(0, 2**32 - 1)
"""What every library's generator accepts."""
ROWS = Count(1, 10**9)
REPEATS = Count(1, 10_000)


def defaulted(
    flag: str,
    kind: Any,
    default: Any,
    text: str,
    **more: Any,
) -> Callable[[Verb], Verb]:
    """An option that its help page shows with its default."""
    return option(
        flag,
        text,
        kind,
        default=default,
        show_default=True,
        **more,
    )


def listed(
    ctx: click.Context,  # noqa: ARG001
    param: click.Parameter,  # noqa: ARG001
    given: tuple[str, ...],
) -> tuple[str, ...]:
    """The words of an option that may be given several times, and several words at a time with
    commas.
    """
    return tuple(word.strip() for part in given for word in part.split(",") if word.strip())


def option(
    flag: str, text: str, kind: Any = None, name: str = "", **more: Any
) -> Callable[[Verb], Verb]:
    """An option that may be left out; `name` is that of the API where it differs."""
    return click.option(
        *filter(None, (flag, name)),
        type=kind,
        help=text,
        **more,
    )


def search_seed(command: Verb) -> Verb:
    """`--search-seed`, whose old name still works with a note."""

    def noted(
        ctx: click.Context,
        param: click.Parameter,  # noqa: ARG001
        value: int | None,
    ) -> None:
        if value is not None:
            echo(
                "reenact: --chance is now --search-seed; the old name goes with the next release.",
                err=True,
            )
            ctx.params["search_seed"] = value

    def chosen(ctx: click.Context, param: click.Parameter, value: int) -> int:  # noqa: ARG001
        return int(ctx.params.get("search_seed", value))

    hidden: dict[str, Any] = {
        "hidden": True,
        "callback": noted,
        "expose_value": False,
        "is_eager": True,
    }
    new = option(
        "--search-seed",
        "Random seed of the search.",
        RANDOM_SEED,
        default=0,
        callback=chosen,
    )
    return new(option("--chance", "", RANDOM_SEED, **hidden)(command))


def printed_as(command: Verb) -> Verb:
    """`--output-format`, and `-v` for what a terminal otherwise leaves out."""

    def noted(context: click.Context, _: click.Parameter, given: bool) -> None:
        context.meta[DETAILS] = given

    def silenced(context: click.Context, _: click.Parameter, given: bool) -> None:
        context.meta[QUIET] = given

    unseen: dict[str, Any] = {
        "is_flag": True,
        "expose_value": False,
    }
    details = click.option(
        "-v", "--verbose", help="Print details as well.", callback=noted, **unseen
    )
    quiet = click.option(
        "-q",
        "--quiet",
        help="Print no progress, one line for each finding, and the verdict.",
        callback=silenced,
        **unseen,
    )
    formats = defaulted(
        "--output-format", click.Choice(FORMATS), "full", "How to print the result."
    )
    return formats(details(quiet(command)))


TRAINING_TIME = (
    "Seconds that one training may take; it is then stopped, and what was seen of it is judged."
)
TRUST = (
    "Continue an unfinished run of this command also when you did not record it on this machine."
)
RULES = "Only these: a fault or a detector by code, prefix or name, a category, a family."
EXECUTOR = "Where trainings run: process, ray, or the address of a Ray cluster."
SHARED_DATA = "A file or folder that every node of the cluster has at this path; not sent."
MAX_TIME = "Seconds that the whole command may take; what was seen until then is judged."
PRUNE = (
    "Whether trainings that choose among changes end early when they are hopeless compared with the "
    "program as"
)
PRUNE += " it is; what judges is always trained to its end."
STAND_IN = (
    "Made-up data of the same shapes where a well-known data set of keras, torchvision or sklearn"
)
STAND_IN += " cannot be had; the result says so."
SHARED: Mapping[str, Callable[[Any], Any]] = {
    "select": option("--select", RULES, multiple=True, callback=listed),
    "ignore": option(
        "--ignore",
        "Rules to skip, named in the same way.",
        multiple=True,
        callback=listed,
    ),
    "threshold": defaulted(
        "--threshold",
        HowSure(),
        Word.LIKELY.value,
        "How sure a finding must be at least: proven, likely or possible (or a number).",
    ),
    "search-seed": search_seed,
    "workers": option(
        "--workers", "Parallel trainings (default: one per core).", WORKERS, default=0
    ),
    "executor": defaulted("--executor", str, "process", EXECUTOR),
    "data": option("--data", SHARED_DATA, multiple=True),
    "python": option("--python", "Interpreter to use; default: the active one."),
    "stand-in-data": option("--stand-in-data", STAND_IN, is_flag=True),
    "max-time": option("--max-time", MAX_TIME, SECONDS),
    "training-time": option("--training-time", TRAINING_TIME, SECONDS),
    "prune": option("--prune/--no-prune", PRUNE, default=False, show_default=True),
    "trust-code": option(
        "--trust-code",
        "Allow a sandbox that confines nothing.",
        is_flag=True,
        default=None,
    ),
    "fresh": option("--fresh", "Reuse nothing of earlier runs, continue none.", is_flag=True),
    "trust-journal": option("--trust-journal", TRUST, is_flag=True),
    "task": option("--task", "What of the paper matters; default: all of it.", default=""),
    "method": option("--method", "The method, by the paper's name for it.", default=""),
    "metric": option("--metric", "The metric that counts.", default=""),
    "dataset": option("--dataset", "The data set, by the paper's name for it.", default=""),
    "addendum": option("--addendum", "What adds to the paper.", FILE),
    "model": option("--model", "Ask this model: anthropic:NAME, ollama:NAME, relay:FOLDER, ..."),
    "max-cost": option("--max-cost", "Money the run may spend on models, in US dollars.", MONEY),
    "max-tokens": option("--max-tokens", "Tokens the run may use.", TOKENS),
    "max-calls": option("--max-calls", "Model calls the run may make.", CALLS),
    "record": option("--record", "Keep the answers for replay:.", NEW_FILE),
    "output-format": printed_as,
    "program": click.argument(
        "program",
        nargs=-1,
        required=True,
        type=click.UNPROCESSED,
    ),
}
"""What is the same in several commands. The order in a help page is that of the decorators."""


def shared(*names: str) -> Callable[[Verb], Verb]:
    """Adds these options to a command."""

    def added(command: Verb) -> Verb:
        for name in reversed(names):
            command = SHARED[name](command)
        return command

    return added


output_format = shared("output-format")


def show(document: Document, chosen: str) -> None:
    """Print a document on stdout; colour only on a terminal that wants it."""
    color = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    context = click.get_current_context(silent=True)
    details = context is None or context.meta.get(DETAILS, True)
    if chosen == "full" and is_quiet():
        chosen = "concise"
    click.echo(
        render(document, chosen, width=terminal_width(), color=color, details=details),
        nl=False,
    )


def is_quiet() -> bool:
    """Whether this command was asked for its findings and verdict alone."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get(QUIET))


def terminal_width() -> int:
    """Columns to print in: those of the terminal or of COLUMNS; 100 in a pipe."""
    return max(60, shutil.get_terminal_size((100, 24)).columns)


def echo(text: str, *, err: bool = False) -> None:
    """Print text that may hold words, names or paths from outside."""
    click.echo(plain(text), err=err)
