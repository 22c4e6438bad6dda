"""Words that every room uses: exit codes, JSON, places in source, progress, the wish to stop."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Self, TypeAlias

JsonValue: TypeAlias = "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None"


class ExitCode(IntEnum):
    """What the shell sees. The meaning is the same for every verb."""

    OK = 0
    """Clean, reproduced, repaired, all goals met."""
    FOUND = 1
    """Findings, not reproduced, a goal missed, something to mend."""
    ERROR = 2
    """Wrong usage, bad input or an internal error."""
    INCONCLUSIVE = 3
    """Budget or evidence did not suffice for a verdict."""
    STOPPED = 130
    """Ctrl-C; the command that continues was printed."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in source code: lines count from 1, columns from 0, the end is exclusive."""

    file: PurePosixPath
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column + 1}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table to print and to write down; the cells are text already."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Progress:
    """One thing worth telling a waiting user. `done`/`total` are steps of `what`, total 0 when unknown."""

    what: str
    done: int = 0
    total: int = 0
    note: str = ""


Tell: TypeAlias = Callable[[Progress], None]


def tell_nobody(progress: Progress) -> None:
    """The default listener."""


class Stop:
    """The user's wish to stop gently: set by the edge, looked at by everything that takes long."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def ask(self) -> None:
        self._event.set()

    @property
    def asked(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float) -> bool:
        """Sleep up to `seconds`; true as soon as a stop is asked for."""
        return self._event.wait(seconds)


@dataclass(frozen=True, slots=True)
class Switches:
    """Parts of a method that can be switched off, to measure what each is worth: boolean fields, all on."""

    @classmethod
    def without(cls, *names: str) -> Self:
        """All parts but these."""
        return cls(**dict.fromkeys(names, False))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(spec.name for spec in fields(cls))
