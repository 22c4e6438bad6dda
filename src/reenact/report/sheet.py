"""A sheet: what a verb has to say, before anyone decides how it looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from reenact.types import ExitCode, JsonValue, Place, Table


class Level(StrEnum):
    """How much a notice matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing; a format that cannot show it says what it shows."""

    title: str
    svg: str
    """Made by `report/svg*.py`, where every word is escaped."""
    alt: str
    """What there is to be seen, in words or a line of bars."""


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing found, with a stable code: what SARIF, annotations and problem matchers read."""

    code: str
    name: str
    level: Level
    message: str
    place: Place | None = None
    next_step: str = ""
    aside: str = ""
    """A few words beside the name, for readers: how sure, of what kind."""
    detail: str = ""
    """What a reader gets instead of the message: several lines, as they stand."""
    help: str = ""
    """Documentation of the code in Markdown, for formats that carry it (SARIF)."""
    pictures: tuple[Picture, ...] = ()
    """What was measured, drawn; shown where pictures can be."""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or several, as they stand."""

    text: str
    title: str = ""
    is_diff: bool = False
    """Lines of a unified diff: never broken, and coloured where colours can be."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one a line."""

    title: str
    facts: tuple[tuple[str, str], ...]


Block: TypeAlias = Text | Facts | Table | Picture


@dataclass(frozen=True, slots=True)
class Sheet:
    """The whole answer of one verb."""

    kind: str
    """Word that names the JSON schema: doctor, config, runs, bench, watch."""
    title: str
    verdict: str
    """The one line to read when only one is read."""
    blocks: tuple[Block, ...] = ()
    notices: tuple[Notice, ...] = ()
    data: JsonValue = field(default_factory=dict)
    """Everything, for the JSON output; the other formats show the blocks."""
    reused: str = ""
    """What of it was not made now, and how to have it made: the first line of every format."""
    exit_code: ExitCode | None = None
    """What the command that prints this ends with; none where the result does not decide it."""
