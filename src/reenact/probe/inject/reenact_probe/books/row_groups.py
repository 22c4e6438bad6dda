"""Groups of rows: those of one patient, building or machine, known by columns that they share.

One column that recurs may be anything that was measured coarsely. Two that recur together, and of which
neither rises with the other, belong to something that has several rows.
"""

from __future__ import annotations

import numpy

from reenact_probe.books.row_values import flat
from reenact_probe.types import Array, Facts

MOST_ROWS = 1024
"""Of a set that judges."""
MOST_COLUMNS = 256
FEW_ROWS, FEW_GROUPS = 200, 10
FEW_JUDGED = 32
ROWS_EACH = 3
LARGEST = 0.2
"""Share of the rows of the largest group."""


class Sample:
    """Some rows of a set, as they are."""

    def __init__(self) -> None:
        self.parts: list[Array] = []
        self.rows = 0

    def add(self, rows: Array) -> None:
        table = flat(rows)
        few = table[: MOST_ROWS - self.rows]
        usable = table.dtype.kind == "f" and rows.ndim == 2 and table.shape[1] <= MOST_COLUMNS
        if not usable or not len(few) or (self.parts and few.shape[1:] != self.parts[0].shape[1:]):
            return
        self.parts.append(few.copy())
        self.rows += len(few)

    def table(self) -> Array:
        return numpy.concatenate(self.parts) if self.parts else None


def groups_of(train: Array, labels: Array, judge: Array) -> Facts | None:
    """How many rows that judge belong to groups that trained; none where there are no groups."""
    if len(train) < FEW_ROWS or judge is None or len(judge) < FEW_JUDGED:
        return None
    if train.ndim != 2 or not 2 <= train.shape[1] == judge.shape[1] <= MOST_COLUMNS:
        return None
    train = train.astype(judge.dtype)
    columns = _columns(train)
    if columns is None:
        return None
    values, members = numpy.unique(train[:, columns[0]], return_inverse=True)
    shared = numpy.isin(judge[:, columns[0]], values)
    return {
        "columns": columns,
        "groups": len(values),
        "rows": len(judge),
        "shared": int(shared.sum()),
        "alike": _alike(members, labels),
        "most": _most(labels),
    }


def _columns(table: Array) -> list[int] | None:
    """Columns that divide the rows into the same groups, where it is not an order that they share."""
    known: list[tuple[int, Array, Array]] = []
    for column in range(table.shape[1]):
        values, members, counts = numpy.unique(
            table[:, column], return_inverse=True, return_counts=True
        )
        many = FEW_GROUPS <= len(values) <= len(table) / ROWS_EACH
        if many and counts.max() <= LARGEST * len(table) and (values != numpy.floor(values)).any():
            known.append((column, values, members))
    for place, (column, values, members) in enumerate(known):
        same = [
            other
            for other, others, numbers in known[place + 1 :]
            if len(others) == len(values) and _is_same(members, numbers, len(values))
            if not _rises(members, numbers, len(values))
        ]
        if same:
            return [column, *same]
    return None


def _is_same(members: Array, others: Array, count: int) -> bool:
    """Whether two numberings divide rows alike."""
    return len(numpy.unique(members * count + others)) == count


def _rises(members: Array, others: Array, count: int) -> bool:
    """Whether the groups come in one order by both columns, or in the opposite ones."""
    order = numpy.zeros(count, int)
    order[members] = others
    steps = numpy.diff(order)
    return bool((steps > 0).all() or (steps < 0).all())


def _alike(members: Array, labels: Array) -> float:
    """The share of the groups with several rows whose rows have one label."""
    first = flat(labels)[:, 0]
    lowest = numpy.full(members.max() + 1, numpy.inf)
    highest = -lowest
    numpy.minimum.at(lowest, members, first)
    numpy.maximum.at(highest, members, first)
    several = numpy.bincount(members) > 1
    return float((lowest == highest)[several].mean()) if several.any() else 0.0


def _most(labels: Array) -> float:
    """The share of the most frequent label."""
    counts = numpy.unique(flat(labels)[:, 0], return_counts=True)[1]
    return float(counts.max() / counts.sum())
