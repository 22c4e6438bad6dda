"""A document: what a command or a page has to say, before anyone decides how it looks.

Every format shows the plain blocks. What only a page can show well (a source with its marks, what
is folded away, a text next to another) is shown by `as_html` alone; a terminal has the plain blocks
next to it.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from reenact.errors import InputError
from reenact.types import ExitCode, JsonValue, Place, Table

T = TypeVar("T")
LABEL, WIDEST = 9, 96
"""Letters of the label before a reason, and of a line with it."""
CHANGE = ("- ", "+ ")
"""How the lines of a change begin."""


class Level(StrEnum):
    """How much a diagnostic matters."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph, or several, unchanged."""

    text: str
    title: str = ""
    is_diff: bool = False
    """Lines of a unified diff: never broken, and coloured where colours can be."""
    is_list: bool = False
    """Lines that stand for themselves: a page folds them away below their title."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values, one a line."""

    title: str
    facts: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing; a format that cannot show it says what it shows."""

    title: str
    svg: str
    """Made by `report/svg*.py`, where every word is escaped."""
    alt: str
    """What there is to be seen, in words or a line of bars."""

    def __repr__(self) -> str:
        return f"<Picture {self.title}>"

    def _repr_svg_(self) -> str:
        """How a notebook draws it."""
        return self.svg

    def save(self, path: str | Path) -> Path:
        """Write it as an SVG file."""
        target = Path(path)
        if target.suffix.lower() != ".svg":
            raise InputError(f"A plot is saved as .svg. Received: path={str(path)!r}.")
        target.write_text(self.svg, encoding="utf-8")
        return target


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a board."""

    cells: Sequence[str]
    tone: str = ""
    """Empty, good, warning or error."""
    anchor: str = ""
    hrefs: Mapping[int, str] = field(default_factory=dict)
    """What a cell leads to, by its column."""


@dataclass(frozen=True, slots=True)
class Board:
    """A table whose rows have a tone and lead somewhere."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
    formulas: bool = False
    """Cells hold LaTeX between dollar signs, which a page draws."""
    folded: bool = False
    """A page shows the title alone until it is opened."""

    @property
    def plain(self) -> Table:
        """The same without tones and links."""
        return Table(
            self.title,
            tuple(self.columns),
            tuple(tuple(row.cells) for row in self.rows),
        )


@dataclass(frozen=True, slots=True)
class Edit:
    """The change that mends what a diagnostic says."""

    diff: str
    """A unified diff; its paths are those of the diagnostic's place."""
    words: str
    """Whether it is safe, and what was done with it."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing found, with a stable code: what SARIF, annotations and problem matchers read."""

    code: str
    name: str
    level: Level
    message: str
    place: Place | None = None
    next_step: str = ""
    aside: str = ""
    """A few words next to the name, for readers: how sure, of what kind."""
    source: str = ""
    """The line it is about with a mark below, as a terminal shows it."""
    reasons: tuple[tuple[str, str], ...] = ()
    """A label and its words (saw, why, tried): what a reader gets instead of the message."""
    help: str = ""
    """Documentation of the code in Markdown, for formats that carry it (SARIF)."""
    pictures: tuple[Picture, ...] = ()
    """What was measured, drawn; shown where pictures can be."""
    anchor: str = ""
    href: str = ""
    """Where its place is shown on the same page."""
    editor: str = ""
    """Address that opens its place in an editor; only a live page has one."""
    cell: str = ""
    """Its place in a notebook, for readers: `study.ipynb cell 4 line 2`."""
    fix: Edit | None = None
    """For formats that hand it to other programs; readers have it among the reasons."""

    @property
    def where(self) -> str:
        """Its place as readers get it; empty for none."""
        return self.cell or (str(self.place) if self.place is not None else "")

    @property
    def detail(self) -> str:
        """Source and reasons as lines of text."""
        lines = [line for part in self.parts for line in labelled(*part)]
        return "\n".join([self.source, *lines] if self.source else lines)

    @property
    def parts(self) -> Iterator[tuple[str, str]]:
        """The reasons with their labels; of a change each line for itself."""
        for label, text in self.reasons:
            lines = text.splitlines() if text.startswith(CHANGE) else [text]
            yield from zip(
                [
                    label,
                    *[""] * len(lines),
                ],
                lines,
                strict=False,
            )


@dataclass(frozen=True, slots=True)
class Squiggle:
    """A part of a line with a note."""

    line: int
    start: int
    end: int
    """The column after it; 0: to the end of the line."""
    note: str
    """What a reader gets when pointing at it."""
    href: str = ""
    """Where more of it is on this page."""
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

    @property
    def plain(self) -> Text:
        return Text(self.text.rstrip("\n"))


@dataclass(frozen=True, slots=True)
class Fold:
    """Blocks that are there but folded away."""

    summary: str
    blocks: Sequence[Block]
    tone: str = ""
    href: str = ""
    """Where the same is on a page of its own; its blocks are fetched from there when they
    are empty.
    """


@dataclass(frozen=True, slots=True)
class Passage:
    """A sentence or a formula of a text that is read."""

    anchor: str
    text: str
    href: str = ""
    """Where on this page the thing is that it is about."""
    note: str = ""
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
    """Groups side by side, below one another on a narrow screen."""

    columns: Sequence[Sequence[Block]]
    tall: bool = False
    """Each column scrolls by itself."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part with a heading that can be linked to; one without blocks is not shown."""

    title: str
    blocks: Sequence[Block]
    anchor: str = ""
    leads: Sequence[tuple[str, str]] = ()
    """Words and addresses of where the same is elsewhere."""
    page_only: bool = False
    """Too long, or shown already, where nothing can be folded away."""
    detail: bool = False
    """At a terminal only on demand."""


Plain: TypeAlias = Text | Facts | Table | Picture
"""Blocks that every format shows as they are."""
Block: TypeAlias = Plain | Board | Source | Diagnostic | Fold | Reading | Beside | Section


@dataclass(frozen=True, slots=True)
class Document:
    """The whole answer of one command, or all that a page shows of a run."""

    kind: str
    """Word that names the JSON schema: doctor, config, runs, diagnose, watch."""
    title: str
    verdict: str
    """The one line to read when only one is read."""
    blocks: tuple[Block, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    data: JsonValue = field(default_factory=dict)
    """Everything, for the JSON output; the other formats show the blocks."""
    reused: str = ""
    """What of it was not made now, and how to have it made: the first line of every format."""
    exit_code: ExitCode | None = None
    """What the command that prints this ends with; none where the result does not decide it."""
    next_command: str = ""
    """What to type next: at a terminal it ends the last line."""

    def plain_blocks(self, *, details: bool = True) -> tuple[Plain, ...]:
        """What formats of plain text show, each with the title of its section where it has none."""
        shown = (
            one for one in self.blocks if details or not (isinstance(one, Section) and one.detail)
        )
        return tuple(_plain(tuple(shown)))

    @property
    def sections(self) -> tuple[Section, ...]:
        """What a page shows: the diagnostics first, then what stands alone, then the sections."""
        named = [block for block in self.blocks if isinstance(block, Section)]
        alone = Section(
            "",
            [block for block in self.blocks if not isinstance(block, Section)],
        )
        shown = (
            Section("Findings", self.diagnostics, "findings"),
            alone,
            *named,
        )
        return tuple(section for section in shown if section.blocks)


def pictures_in(document: Document) -> tuple[Picture, ...]:
    """Every picture of a document, those of its findings first."""
    return tuple(_pictures([*document.diagnostics, *document.blocks]))


def _pictures(blocks: Iterable[Block]) -> Iterator[Picture]:
    for block in blocks:
        if isinstance(block, Picture):
            yield block
        elif isinstance(block, Diagnostic):
            yield from block.pictures
        elif isinstance(block, Section | Fold):
            yield from _pictures(block.blocks)
        elif isinstance(block, Beside):
            for column in block.columns:
                yield from _pictures(column)


def _plain(blocks: Sequence[Block], title: str = "") -> Iterator[Plain]:
    """`title` is that of the section: its first block has it where it has none of its own."""
    for block in blocks:
        if isinstance(block, Section) and not block.page_only:
            yield from _plain(block.blocks, block.title)
            continue
        shown = block.plain if isinstance(block, Board | Source) else block
        if isinstance(shown, Text | Facts | Table | Picture):
            yield shown if shown.title or not title else replace(shown, title=title)
            title = ""


def listed(lines: Sequence[str], title: str = "") -> list[Text]:
    """Lines as one text; nothing for none."""
    if lines:
        return [Text("\n".join(lines), title)]
    return []


def labelled(label: str, text: str, width: int = WIDEST) -> list[str]:
    """A label and its words as lines, wrapped below themselves."""
    is_change = text.startswith(CHANGE)
    line = f"{label:{LABEL}}{text}"
    hang = " " * (LABEL + 4 * is_change)
    return textwrap.wrap(line, width, subsequent_indent=hang, break_on_hyphens=not is_change)


def mapped(
    value: T,
    change: Callable[[str, str], str],
    name: str = "",
) -> T:
    """The same with `change(name of the field, text)` in place of every text in it."""
    result: Any = value
    if type(result) is str:
        result = change(name, result)
    elif isinstance(result, list | tuple):
        result = type(result)(mapped(item, change, name) for item in result)
    elif isinstance(result, dict):
        result = {
            mapped(key, change, name): mapped(item, change, name) for key, item in result.items()
        }
    elif is_dataclass(result) and not isinstance(result, type):
        names = [spec.name for spec in fields(result) if spec.init]
        result = replace(
            result, **{one: mapped(getattr(result, one), change, one) for one in names}
        )
    return cast("T", result)
