"""Commands that the page may start, as forms: each option of the command line is a field."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import click

from reenact.errors import InputError

LEFT_OUT = ("--output-format", "--help")


@dataclass(frozen=True, slots=True)
class Form:
    """One command."""

    verb: str
    command: click.Command
    example: str
    """Stands in the empty field of its argument."""
    shown: tuple[str, ...] = ()
    """Flags that are shown at once; the rest is folded away."""

    @property
    def help(self) -> str:
        return (self.command.help or "").partition("\n\n")[0].replace("\n", " ")

    @property
    def argument(self) -> str:
        """What its argument is called."""
        argument = next(one for one in self.command.params if isinstance(one, click.Argument))
        return argument.make_metavar(click.Context(self.command)).strip("[].").upper()

    @property
    def fields(self) -> dict[str, click.Option]:
        """The options, by their flags as they are typed."""
        options = [one for one in self.command.params if isinstance(one, click.Option) and not one.hidden]
        flags = {max(one.opts, key=len): one for one in options}
        return {flag: one for flag, one in flags.items() if flag not in LEFT_OUT}

    @property
    def first(self) -> dict[str, click.Option]:
        return {flag: self.fields[flag] for flag in self.shown if flag in self.fields}

    @property
    def rest(self) -> dict[str, click.Option]:
        return {flag: one for flag, one in self.fields.items() if flag not in self.shown}

    def words(self, given: Mapping[str, str]) -> list[str]:
        """The command's words; raises InputError for a form that cannot be a command."""
        argument = given.get("argument", "").strip()
        if not argument:
            raise InputError(f"{self.argument} is missing.")
        words = [self.verb]
        for flag, option in self.fields.items():
            words += _option(flag, option, given.get(flag, "").strip())
        return [*words, *_split(argument)]


def _option(flag: str, option: click.Option, value: str) -> Sequence[str]:
    if not value:
        if option.required:
            raise InputError(f"{flag} is missing.")
        return ()
    if option.is_flag:
        return (flag,)
    # One word: a value that begins with a dash stays a value.
    return [f"{flag}={one}" for one in (_split(value) if option.multiple else [value])]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"A quotation mark is not closed. Received: {text!r}.") from error
