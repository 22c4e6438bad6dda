"""Lines of a PDF: which belong to the paper, which is its title, what size its text has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from reenact.intake.papers.pieces import Grid

EDGE = 3
"""So many lines at the top and bottom of a page may be headers and footers."""
_PAGE_NUMBER = re.compile(
    r"^(?:page\s*)?[-–—]?\s*(?:\d{1,4}|[ivxlc]{1,6})\s*[-–—]?(?:\s*(?:of|/)\s*\d{1,4})?$", re.I
)
_STAMP = re.compile(r"^arXiv:\S+\s+\[[\w.-]+\]")
_LETTER = re.compile(r"[^\W_]")


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
    tables: tuple[tuple[Grid, tuple[float, ...]], ...]


def bare_pages(pages: Sequence[Page]) -> list[Page]:
    """Pages without page numbers, and without lines that stand at the edge of page after page."""
    seen = Counter(mark for page in pages for mark in {_mark(line) for line in _edges(page.lines)})
    often = max(3, len(pages) // 3)
    repeated = {mark for mark, count in seen.items() if count >= often and mark}

    def kept(page: Page) -> tuple[Line, ...]:
        edges = set(_edges(page.lines))
        return tuple(
            line
            for line in page.lines
            if not _STAMP.match(line.text)
            and not (line in edges and (_PAGE_NUMBER.match(line.text) or _mark(line) in repeated))
        )

    return [replace(page, lines=kept(page)) for page in pages]


def _edges(lines: Sequence[Line]) -> list[Line]:
    by_height = sorted(lines, key=lambda line: line.low)
    return [*by_height[:EDGE], *by_height[-EDGE:]]


def _mark(line: Line) -> str:
    return re.sub(r"\d+", "#", line.text.casefold())


def body_size(pages: Iterable[Page]) -> float:
    """The size that most letters have."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page.lines:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def title_of(page: Page, size: float) -> tuple[str, frozenset[Line]]:
    """The largest lines of the first page, when they are larger than its text."""
    lines = [line for line in page.lines[:40] if _LETTER.search(line.text)]
    largest = max((line.size for line in lines if len(line.text) > 3), default=0.0)
    if largest < size * 1.15:
        return "", frozenset()
    first = next(place for place, line in enumerate(lines) if line.size == largest)
    taken: list[Line] = []
    for line in lines[first : first + 5]:
        if abs(line.size - largest) > 0.6:
            break
        taken.append(line)
    return " ".join(line.text for line in taken), frozenset(taken)


def box_of(lines: Sequence[Line]) -> tuple[float, ...]:
    """The smallest box around lines."""
    return (
        min(line.left for line in lines), min(line.low for line in lines),
        max(line.right for line in lines), max(line.high for line in lines),
    )  # fmt: skip
