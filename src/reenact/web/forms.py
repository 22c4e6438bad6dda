"""Commands that the page may start, as forms: what the command line says of itself, in types."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from reenact.errors import InputError


@dataclass(frozen=True, slots=True)
class Field:
    """One option of a command."""

    flag: str
    """As it is typed: `--budget`."""
    help: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    is_flag: bool = False
    multiple: bool = False
    required: bool = False


@dataclass(frozen=True, slots=True)
class Form:
    """One command."""

    verb: str
    help: str
    argument: str
    """What its argument is called."""
    example: str
    """Stands in the empty field."""
    fields: tuple[Field, ...]
    shown: tuple[str, ...] = ()
    """Flags that are shown at once; the rest is folded away."""

    @property
    def first(self) -> tuple[Field, ...]:
        by_flag = {field.flag: field for field in self.fields}
        return tuple(by_flag[flag] for flag in self.shown if flag in by_flag)

    @property
    def rest(self) -> tuple[Field, ...]:
        return tuple(field for field in self.fields if field.flag not in self.shown)

    def words(self, given: Mapping[str, str]) -> list[str]:
        """The command's words; raises InputError for a form that cannot be a command."""
        argument = given.get("argument", "").strip()
        if not argument:
            raise InputError(f"{self.argument} is missing.")
        words = [self.verb]
        for field in self.fields:
            words += _option(field, given.get(field.flag, "").strip())
        return [*words, *_split(argument)]


def _option(field: Field, value: str) -> Sequence[str]:
    if not value:
        if field.required:
            raise InputError(f"{field.flag} is missing.")
        return ()
    if field.is_flag:
        return (field.flag,)
    values = _split(value) if field.multiple else [value]
    # One word: a value that begins with a dash stays a value.
    return [f"{field.flag}={one}" for one in values]


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise InputError(f"A quotation mark is not closed. Received: {text!r}.") from error
