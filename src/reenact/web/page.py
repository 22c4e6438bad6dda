"""What a page says, before anyone decides how it looks: sections of blocks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from reenact.report.plots import Plot
from reenact.report.sheet import Facts, Text
from reenact.types import Table


@dataclass(frozen=True, slots=True)
class Chart:
    """A plot, and what is to be seen on it in words."""

    plot: Plot
    words: str


@dataclass(frozen=True, slots=True)
class Squiggle:
    """A part of a line that something is said about."""

    line: int
    start: int
    end: int
    said: str
    """What a reader gets when pointing at it."""
    href: str = ""
    """Where more is said of it, on this page."""
    tone: str = ""
    """Empty for something wrong, `faint` for a doubt, `good` for something that holds."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of source code with squiggles."""

    file: str
    text: str
    squiggles: Sequence[Squiggle] = ()
    anchor: str = ""
    """What its lines are called: `anchor-L12`."""
    context: int | None = None
    """Lines shown around a squiggle; none: the whole file."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame of a traceback."""

    whose: str
    """project, script or library."""
    place: str
    function: str


@dataclass(frozen=True, slots=True)
class Traceback:
    """How an exception came about, innermost last."""

    frames: Sequence[Frame]
    message: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing said about the program."""

    code: str
    name: str
    tone: str
    """error, warning, note or good."""
    aside: str
    anchor: str = ""
    place: str = ""
    href: str = ""
    """Where the place is shown on this page."""
    lines: Sequence[tuple[str, str]] = ()
    """A label and its words: saw, why, tried."""
    blocks: Sequence[Block] = ()


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are there but folded away."""

    summary: str
    blocks: Sequence[Block]
    tone: str = ""
    open: bool = False
    href: str = ""
    """Where the same stands on a page of its own; its blocks are fetched from there when they are empty."""


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry of a timeline."""

    name: str
    said: str
    tone: str = ""
    blocks: Sequence[Block] = ()


@dataclass(frozen=True, slots=True)
class Timeline:
    """What happened, one after the other."""

    moments: Sequence[Moment]


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a board: cells, and what unfolds below it."""

    cells: Sequence[str]
    tone: str = ""
    anchor: str = ""
    hrefs: Mapping[int, str] = field(default_factory=dict)
    """What a cell leads to, by its column."""


@dataclass(frozen=True, slots=True)
class Board:
    """A table whose rows have a tone and lead somewhere."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a formula of a text that is read."""

    anchor: str
    text: str
    href: str = ""
    """Where on this page the thing stands that it is about."""
    said: str = ""
    """What a reader gets when pointing at it."""
    tone: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text, paragraph by paragraph, whose passages lead somewhere."""

    title: str
    paragraphs: Sequence[Sequence[Passage] | str]
    """A paragraph, or the words of a heading."""


@dataclass(frozen=True, slots=True)
class Beside:
    """Two groups side by side, below one another on a narrow screen."""

    left: Sequence[Block]
    right: Sequence[Block]
    tall: bool = False
    """Each side scrolls by itself."""


Block: TypeAlias = (
    Text | Facts | Table | Chart | Source | Traceback | Finding | Fold | Timeline | Board | Reading | Beside
)


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading that can be linked to."""

    title: str
    blocks: Sequence[Block]
    anchor: str = ""
    leads: Sequence[tuple[str, str]] = ()
    """Words and addresses of where the same stands elsewhere."""
