"""Whose number a table cell is: the heading of its row and those of its column."""

from __future__ import annotations

from collections.abc import Iterator

from reenact.intake.papers.paper import Table, plain
from reenact.paper.fingerprint.vocabulary import words_of
from reenact.paper.quantity import quantities


def of_another(table: Table, quote: str, method: str) -> str:
    """The row or column of somebody else that all such cells stand in; empty when none contradicts.

    A contradiction needs a heading that is the method's name, and cells that stand under other headings:
    tables that call the method `ours` are not judged.
    """
    name = words_of(method)
    heads = [frozenset(words_of(head)) for head in _headings(table)]
    if not name or name not in heads:
        return ""
    theirs = [_around(table, row, column) for row, column in _cells(table, quote)]
    if not theirs or any(name <= words_of(" ".join(around)) for around in theirs):
        return ""
    return " / ".join(head for head in theirs[0] if head)


def _cells(table: Table, quote: str) -> Iterator[tuple[int, int]]:
    for row, cells in enumerate(table.rows):
        yield from ((row, column) for column, cell in enumerate(cells) if plain(quote) in plain(cell))


def _headings(table: Table) -> list[str]:
    """Of rows and of columns; the corner says what kind of thing the rows are, and heads nothing."""
    first = [row[0] for row in table.rows[table.heads :] if row]
    return [*first, *(cell for row in table.rows[: table.heads] for cell in row[1:])]


def _around(table: Table, row: int, column: int) -> list[str]:
    """Words of the row that are no numbers, and what stands over the cell."""
    beside = [cell for cell in table.rows[row] if not quantities(cell)] or [*table.rows[row][:1]]
    above = [cells[column] for cells in table.rows[: table.heads] if column < len(cells)]
    return [*beside, *above]
