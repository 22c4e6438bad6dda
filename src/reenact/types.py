"""What every package uses: exit codes, JSON, places in source, progress, the request to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Self, TypeAlias

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType(
    "JsonValue",
    "bool | int | float | str | Sequence[JsonValue] | Mapping[str, JsonValue] | None",
)
LOOK_S = 0.1


class ExitCode(IntEnum):
    """What the shell sees. The meaning is the same for every command; docs/exit-codes.md has the table."""

    OK = 0
    """It was looked at and is good: nothing speaks against the training, reproduced, repaired,
    goals met.
    """
    FOUND = 1
    """It was looked at and is not good: a finding, a broken training, not repaired, not
    reproduced.
    """
    ERROR = 2
    """Wrong usage, bad input (a file that cannot be parsed, a folder without programs), an
    internal error.
    """
    INCONCLUSIVE = 3
    """Nothing could be judged: no start, no training, not enough evidence, time or budget for a
    verdict.
    """
    STOPPED = 130
    """Ctrl-C, without a verdict; the command that continues was printed."""


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
    """One thing worth telling a waiting user. `done`/`total` are steps of `what`, total 0 when
    unknown.
    """

    what: str
    done: int = 0
    total: int = 0
    note: str = ""
    values: tuple[float, ...] = ()
    """The loss over the steps so far, thinned out; drawn where that can be."""
    left: float | None = None
    """Seconds until `what` is done, where that is known; `note` says it too, in its last part."""


Tell: TypeAlias = Callable[[Progress], None]


def tell_nobody(progress: Progress) -> None:
    """The default listener."""


class Stop:
    """When to stop: as soon as the user asks for it, or when the time of the whole command is up.

    Set by the edge, looked at by everything that takes long. `seconds` is the time there is, from
    `began` (of `time.monotonic`, default now) on. A `parent` ends its children; a child may end
    earlier by itself. An `event` is that of a caller who sets it to end the work.
    """

    def __init__(
        self,
        seconds: float | None = None,
        *,
        began: float | None = None,
        parent: Stop | None = None,
        event: threading.Event | None = None,
    ) -> None:
        self.seconds = seconds
        began = time.monotonic() if began is None else began
        self._until = None if seconds is None else began + seconds
        self._parent = parent
        self._event = event
        self._by_ask = False
        self._verdict_asked = False

    def ask_verdict(self) -> None:
        """Ask to end now and to judge what was seen, as the first Ctrl-C does. From then on no time
        is left. It takes no lock either.
        """
        self._verdict_asked = True

    def ask(self) -> None:
        """Ask to stop gently, as Ctrl-C does. It takes no lock: the thread of the signal may
        hold it.
        """
        self._by_ask = True

    @property
    def asked(self) -> bool:
        """Whether to stop now, for whatever reason."""
        return self.by_user or self.time_is_up

    @property
    def by_user(self) -> bool:
        """Whether somebody asked for it; what is unfinished is continued by the same command."""
        requested = self._by_ask or (self._event is not None and self._event.is_set())
        return requested or (self._parent is not None and self._parent.by_user)

    @property
    def verdict_asked(self) -> bool:
        """Whether somebody asked for a verdict on what was seen until then."""
        return self._verdict_asked or (self._parent is not None and self._parent.verdict_asked)

    @property
    def time_is_up(self) -> bool:
        """Whether the time of the whole command is over, or `ask_verdict` ended it; what was seen
        until then is judged.
        """
        left = self.remaining()
        return left is not None and left <= 0

    @property
    def limit(self) -> float | None:
        """The seconds that were given, ours or the parent's."""
        if self.seconds is not None or self._parent is None:
            return self.seconds
        return self._parent.limit

    def remaining(self) -> float | None:
        """Seconds that are left; none when there is no limit."""
        if self.verdict_asked:
            return 0.0
        own = None if self._until is None else self._until - time.monotonic()
        above = None if self._parent is None else self._parent.remaining()
        return min((left for left in (own, above) if left is not None), default=None)

    def within(self, seconds: float | None) -> float | None:
        """So many seconds, but never more than are left."""
        left = self.remaining()
        known = [
            one for one in (seconds, None if left is None else max(0.0, left)) if one is not None
        ]
        return min(known, default=None)

    def wait(self, seconds: float) -> bool:
        """Sleep up to `seconds`; true as soon as it is time to stop."""
        until = time.monotonic() + seconds
        while not self.asked:
            left = until - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(self.within(left) or 0.0, LOOK_S))
        return True


@dataclass(frozen=True, slots=True)
class Switches:
    """Parts of a method that can be switched off, to measure what each is worth: boolean
    fields, all on.
    """

    @classmethod
    def without(cls, *names: str) -> Self:
        """All parts but these."""
        return cls(**dict.fromkeys(names, False))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        return tuple(spec.name for spec in fields(cls))
