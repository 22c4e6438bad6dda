"""PDF -> Draft: text, captions and tables; formulas are not to be trusted, which `lost` states."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, TypeAlias

from reenact.errors import UnreadablePaper
from reenact.intake.papers.assemble import Draft, Piece, Prose, cut_references
from reenact.intake.papers.pandoc import SCRIPT_LIMITS, read_by
from reenact.intake.papers.paper import Equation, Figure, Lost, Table
from reenact.intake.papers.pictures import drawn
from reenact.intake.papers.plain import heading_of
from reenact.sandbox.box import Limits, Sandbox

Box: TypeAlias = tuple[float, ...]
"""Left, low, right, high, in points from the lower left corner."""
EDGE = 3
"""So many lines at the top and bottom of a page may be headers and footers."""
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?[-–—]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-–—]?(?:\s*(?:of|/)\s*\d{1,4})?$",
    re.I,
)
_STAMP = re.compile(r"^arXiv:\S+\s+\[[\w.-]+\]")
_LETTER = re.compile(r"[^\W_]")
LONGEST_CAPTION = 12
"""Lines; what follows is text again."""
_CAPTION = re.compile(
    r"(?i)^(?P<kind>table|figure|fig\.|algorithm)\s*(?P<number>[A-Z]?\d{1,3}(?:\.\d{1,2})?)\s*[:.|]\s*(?P<words>.*)$"
)
_ENTRY = re.compile(r"^\[[^\[\]\s]{1,12}\]\s|^\d{1,3}\.\s+[A-Z]")
_NUMBERED = re.compile(r"^(?P<body>.{3,}?)\s*\((?P<number>\d{1,3}[a-z]?)\)$")
_SIGN = re.compile(r"[=<>≤≥≈∝∑∏∫√∂∈→←±×·∥∇]")
_WORD = re.compile(r"[^\W\d_]{4,}")
_STOP = re.compile(r"[.!?:][\"”’)\]]?$")
TRUST = (
    "Formulas of a PDF come as loose signs: none of them is to be trusted. LaTeX or HTML keeps "
    "them."
)


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its look and place; points count from the lower left corner."""

    text: str
    size: float
    bold: bool
    left: float
    low: float
    right: float
    high: float


@dataclass(frozen=True, slots=True)
class Page:
    """The lines of a page in reading order, and the tables on it with their boxes."""

    number: int
    lines: tuple[Line, ...]
    tables: tuple[tuple[Table, Box], ...]


def bare_pages(pages: Sequence[Page]) -> list[Page]:
    """Pages without page numbers, and without lines that are at the edge of page after page."""
    seen = Counter(mark for page in pages for mark in {_mark(line) for line in _edges(page.lines)})
    often = max(3, len(pages) // 3)
    repeated = {mark for mark, count in seen.items() if count >= often and mark}

    def kept(page: Page) -> tuple[Line, ...]:
        edges = set(_edges(page.lines))
        aside = {one for one in edges if _PAGE_NUMBER.match(one.text) or _mark(one) in repeated}
        return tuple(
            line for line in page.lines if not _STAMP.match(line.text) and line not in aside
        )

    return [replace(page, lines=kept(page)) for page in pages]


def _edges(lines: Sequence[Line]) -> list[Line]:
    by_height = sorted(lines, key=lambda line: line.low)
    return [
        *by_height[:EDGE],
        *by_height[-EDGE:],
    ]


def _mark(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text.casefold())


def title_of(page: Page, size: float) -> tuple[str, frozenset[Line]]:
    """The largest lines of the first page, when they are larger than its text."""
    lines = [line for line in page.lines[:40] if _LETTER.search(line.text)]
    largest = max((line.size for line in lines if len(line.text) > 3), default=0.0)
    if largest < size * 1.15:
        return "", frozenset()
    first = next(place for place, line in enumerate(lines) if line.size == largest)
    taken = [
        *takewhile(
            lambda line: abs(line.size - largest) <= 0.6,
            lines[first : first + 5],
        )
    ]
    return " ".join(line.text for line in taken), frozenset(taken)


@dataclass
class Paragraphs:
    """Takes pages one after the other."""

    size: float
    file: str
    """Name of the PDF."""
    lost: list[Lost] = field(default_factory=list)
    _pieces: list[Piece] = field(default_factory=list)
    _open: list[Line] = field(default_factory=list)
    _page: int = 0
    _caption: tuple[str, str] | None = None
    _words: set[str] = field(default_factory=set)

    def page(self, page: Page, *, skip: frozenset[Line]) -> None:
        """Read the lines of a page; those inside a table are the table's."""
        for line in page.lines:
            self._words.update(re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text.casefold()))
        tables = list(page.tables)
        for line in page.lines:
            if line in skip or any(_within(line, box) for _, box in page.tables):
                continue
            if self._caption is None and self._open and self._begins(line):
                self._close(tables)
            if self._caption is not None and self._ends_caption(line):
                self._close(tables)
            self._take(line, page.number, tables)
        if self._caption is not None:
            self._close(tables)

    def finish(self) -> list[Piece]:
        self._close([])
        return self._pieces

    def _take(
        self,
        line: Line,
        page: int,
        tables: list[tuple[Table, Box]],
    ) -> None:
        looks = line.bold or line.size > self.size * 1.04 or line.text.isupper()
        alone = (heading_of(line.text) if looks else None) or _formula(line)
        caption = _CAPTION.match(line.text)
        if self._caption is not None or not (caption or alone):
            self._page = self._page if self._open else page
            self._open.append(line)
            return
        self._close(tables)
        if caption:
            self._page, self._caption = (
                page,
                (
                    caption["kind"][:3].casefold(),
                    caption["number"],
                ),
            )
            self._open = [replace(line, text=caption["words"])]
        elif alone:
            self._pieces.append(replace(alone, page=page) if isinstance(alone, Equation) else alone)

    def _begins(self, line: Line) -> bool:
        """Whether a line begins another paragraph than the one that is open."""
        last = self._open[-1]
        if (
            _ENTRY.match(line.text)
            or line.text.startswith(("• ", "– "))
            or abs(line.size - last.size) > 0.9
        ):
            return True
        other_column = line.low > last.high
        gap = last.low - line.high
        if other_column or gap > 0.9 * last.size:
            return not other_column
        left = min(one.left for one in self._open)
        indented = line.left - left > 0.8 * last.size and not _ENTRY.match(self._open[0].text)
        short = last.right < max(one.right for one in self._open) - 3 * last.size
        return bool(_STOP.search(last.text)) and (indented or short)

    def _ends_caption(self, line: Line) -> bool:
        last = self._open[-1]
        apart = last.low - line.high > 0.5 * last.size or line.low > last.high
        other = apart or _CAPTION.match(line.text) is not None
        return other or len(self._open) >= LONGEST_CAPTION or abs(line.size - last.size) > 0.9

    def _close(self, tables: list[tuple[Table, Box]]) -> None:
        lines = self._open
        caption = self._caption
        self._open = []
        self._caption = None
        if not lines:
            return
        text = " ".join(self._joined(lines).split())
        kind, number = caption or ("", "")
        piece: Piece = Prose(
            f"Algorithm {number}: {text}" if kind else text,
            self._page,
        )
        if kind == "tab":
            table = self._table(number, lines[0], tables)
            piece = replace(
                table,
                caption=text,
                label=number,
                page=self._page,
            )
        elif kind == "fig":
            piece = Figure(
                "",
                text,
                number,
                file=f"{self.file}#page={self._page}",
                page=self._page,
            )
        self._pieces.append(piece)

    def _table(
        self,
        number: str,
        line: Line,
        tables: list[tuple[Table, Box]],
    ) -> Table:
        """The table next to its caption."""
        if not tables:
            what = f"The cells of table {number} were not found."
            self.lost.append(
                Lost(
                    "table",
                    what,
                    f"page {self._page}",
                )
            )
            return Table(heads=0)
        near = min(
            tables,
            key=lambda one: min(abs(one[1][3] - line.low), abs(one[1][1] - line.high)),
        )
        tables.remove(near)
        return near[0]

    def _joined(self, lines: list[Line]) -> str:
        """Lines as running text; a word cut at the end of a line is whole again where it occurs
        whole.
        """
        text = lines[0].text
        for line in lines[1:]:
            cut = re.search(r"([^\W\d_]+(?:-[^\W\d_]+)*)-$", text)
            rest = re.match(r"[a-z]+", line.text)
            if cut and rest and f"{cut[1]}-{rest[0]}".casefold() not in self._words:
                text = text[:-1]
            text += line.text if cut and rest else f" {line.text}"
        return text


def _formula(line: Line) -> Equation | None:
    """A line of signs, with its number at the end or hardly a word in it."""
    numbered = _NUMBERED.match(line.text)
    body = numbered["body"] if numbered else line.text
    few = len(_WORD.findall(body)) <= (3 if numbered else 0)
    if not few or not 3 < len(body) <= 160 or not _SIGN.search(body):
        return None
    return Equation(
        latex=body,
        label=numbered["number"] if numbered else "",
    )


def _within(line: Line, box: Box) -> bool:
    left, low, right, high = box
    middle = (line.low + line.high) / 2
    return left - 6 <= line.left and line.right <= right + 6 and low - 1 <= middle <= high + 1


def read_pdf(
    data: bytes,
    name: str,
    *,
    box: Sandbox,
    limits: Limits = SCRIPT_LIMITS,
) -> Draft:
    """The paper in a PDF. UnreadablePaper when it is locked or damaged, or has no text."""
    parsed = read_by(
        "pdf_pages",
        "pages.json",
        name=name,
        limits=limits,
        box=box,
        files={"paper.pdf": data},
    )
    if "error" in parsed:
        locked = "password" in str(parsed["error"])
        instead = (
            "Save it without a password."
            if locked
            else "Download the paper again, or get its LaTeX."
        )
        why = f"The PDF cannot be read: {parsed['error']}. Received: {name}"
        raise UnreadablePaper(why, next_step=instead)
    pages = bare_pages([_page(page) for page in parsed["pages"]])
    if not any(page.lines for page in pages):
        why = f"The PDF has no text: its pages are pictures. Received: {name}"
        raise UnreadablePaper(
            why, next_step="Run a text recognition over it first, or get its LaTeX."
        )
    return _draft(
        pages,
        name=name,
        unseen=int(parsed["unseen"]),
        data=data,
        box=box,
    )


def _page(page: Mapping[str, Any]) -> Page:
    lines = (
        Line(
            str(line["text"]),
            float(line["size"]),
            bool(line["bold"]),
            *map(float, line["box"]),
        )
        for line in page["lines"]
    )
    tables: list[tuple[Table, Box]] = []
    for table in page["tables"]:
        rows = tuple(tuple(map(str, row)) for row in table["rows"])
        tables.append(
            (
                Table(rows=rows, heads=int(table["heads"])),
                tuple(map(float, table["box"])),
            )
        )
    return Page(
        int(page["number"]),
        tuple(lines),
        tuple(tables),
    )


def _draft(
    pages: list[Page],
    name: str,
    unseen: int,
    data: bytes,
    box: Sandbox,
) -> Draft:
    # The size that most letters have.
    sizes = Counter(line.size for page in pages for line in page.lines for _ in line.text)
    size = 10.0
    if sizes:
        size = sizes.most_common(1)[0][0]
    title, used = title_of(pages[0], size)
    made = Paragraphs(size, name)
    for page in pages:
        made.page(
            page,
            skip=used if page is pages[0] else frozenset(),
        )
    kept, references = cut_references(made.finish())
    pieces, undrawn = drawn(
        kept, {one.file: data for one in kept if isinstance(one, Figure)}, box=box
    )
    lost = [
        Lost("equation", TRUST),
        *made.lost,
        *undrawn,
    ]
    if unseen:
        what = f"Letters that no reader would see (white, tiny, turned) were left out: {unseen}."
        lost.append(Lost("text", what))
    if bare := [page.number for page in pages if not page.lines]:
        lost.append(
            Lost(
                "page",
                f"Pages without any text: {', '.join(map(str, bare))}.",
            )
        )
    return Draft(
        "pdf",
        pieces,
        title=title,
        references=references,
        lost=tuple(lost),
    )
