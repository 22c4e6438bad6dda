"""A table of a page -> Grid."""

from __future__ import annotations

from reenact.intake.papers.html_node import Element
from reenact.intake.papers.html_text import Words
from reenact.intake.papers.pieces import Grid
from reenact.intake.papers.tree_table import spread

WIDEST = 200
_CELLS = ("td", "th")


def grid_of(table: Element, words: Words) -> Grid:
    """The cells; rows of headings are those of the head, or the first ones that hold headings alone."""
    caption = table.first(lambda one: one.tag == "caption")
    head = table.first(lambda one: one.tag == "thead")
    rows = list(table.all(lambda one: one.tag == "tr"))
    cells = [
        [cell for cell in row.children if isinstance(cell, Element) and cell.tag in _CELLS] for row in rows
    ]
    texts = [
        [(words.line(cell), _span(cell, "rowspan"), _span(cell, "colspan")) for cell in row] for row in cells
    ]
    width = max((sum(across for _, _, across in row) for row in texts), default=0)
    heads = len(list(head.all(lambda one: one.tag == "tr"))) if head else 0
    if not heads:
        alone = [bool(row) and all(cell.tag == "th" for cell in row) for row in cells]
        heads = alone.index(False) if False in alone else len(alone)
    return Grid(spread(texts, min(width, WIDEST)), heads, words.line(caption) if caption else "")


def _span(cell: Element, name: str) -> int:
    told = cell.attributes.get(name, "1")
    return max(1, min(int(told), WIDEST)) if told.isdigit() and len(told) < 5 else 1
