"""A table of pandoc's tree -> Grid: a cell that spans columns or rows is repeated in each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from reenact.intake.papers.latex_tables import HEADS
from reenact.intake.papers.pieces import Grid
from reenact.intake.papers.tree_inline import Node

MOST_CELLS = 20_000
Line = Callable[[Iterable[Node]], str]


def grid_of(content: Any, line: Line) -> Grid:
    """The cells as text. Spans that run over the edge are cut there."""
    attributes, caption, columns, head, bodies, foot = content
    heads = list(head[1])
    body = [row for part in bodies for row in (*part[2], *part[3])] + list(foot[1])
    rows = spread([[_cell(cell, line) for cell in row[1]] for row in (*heads, *body)], len(columns))
    words = " ".join(_words(block, line) for block in caption[1])
    told = HEADS.match(rows[0][0]) if rows and rows[0] else None
    if told:
        rows = tuple(tuple(HEADS.sub("", cell) for cell in row) for row in rows)
    return Grid(rows, int(told[1]) if told else len(heads), words, str(attributes[0]))


def spread(rows: list[list[tuple[str, int, int]]], width: int) -> tuple[tuple[str, ...], ...]:
    """Rows of (text, rows spanned, columns spanned) as a full grid."""
    grid: dict[tuple[int, int], str] = {}
    for number, row in enumerate(rows):
        column = 0
        for text, down, across in row:
            while (number, column) in grid:
                column += 1
            for below in range(min(down, len(rows) - number)):
                for beside in range(min(across, max(width - column, 1))):
                    grid[number + below, column + beside] = text
            column += max(across, 1)
            if len(grid) > MOST_CELLS:
                break
    full = max([width, *(column + 1 for _, column in grid)], default=0)
    return tuple(
        tuple(grid.get((number, column), "") for column in range(full)) for number in range(len(rows))
    )


def _cell(cell: Any, line: Line) -> tuple[str, int, int]:
    _, _, down, across, blocks = cell
    return " ".join(_words(block, line) for block in blocks), max(int(down), 1), max(int(across), 1)


def _words(block: Node, line: Line) -> str:
    content: Any = block.get("c")
    if block["t"] in ("Para", "Plain"):
        return line(content)
    if block["t"] == "Div":
        return " ".join(_words(inner, line) for inner in content[1])
    if block["t"] in ("BulletList", "OrderedList"):
        items = content if block["t"] == "BulletList" else content[1]
        return "; ".join(" ".join(_words(inner, line) for inner in item) for item in items)
    if block["t"] == "Table":
        return " ".join(cell for row in grid_of(content, line).rows for cell in row if cell)
    return str(content[1]) if block["t"] == "CodeBlock" else ""
