"""A sheet: what a verb has to say, before anyone decides how it looks."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from reenact.types import JsonValue, Place, Table


class Level(StrEnum):
    """How much a notice matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing found, with a stable code: what SARIF, annotations and problem matchers read."""

    code: str
    name: str
    level: Level
    message: str
    place: Place | None = None
    next_step: str = ""


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or several, as they stand."""

    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one a line."""

    title: str
    facts: tuple[tuple[str, str], ...]


Block: TypeAlias = Text | Facts | Table


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
