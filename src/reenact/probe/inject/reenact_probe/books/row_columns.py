"""The columns of a set of rows: their means and deviations, and how those of two sets lie to each other."""

from __future__ import annotations

import numpy

from reenact_probe.books.row_values import flat
from reenact_probe.types import Array, Facts

MOST_COLUMNS = 4096
FEW_ROWS = 32
FLAT = 1e-6
FEW_LABELS = 8
APART = 1.5
"""Distance of two means, in mean deviations, from which on columns hardly meet."""
OTHER_WIDTH = 3.0
MOST_ORDERED = 64
OFF, CLOSE = 0.5, 0.15
"""Distance of a column to that of its place, and to that of another, where it is the other."""


class Columns:
    """Sums over rows of numbers of one width."""

    def __init__(self) -> None:
        self.rows = 0
        self.sums: Array = None
        """Of each column: its sum and the sum of its squares."""
        self.whole = True
        """Every value so far is a whole number."""
        self.form: tuple[int, ...] = ()
        """Of one row."""

    def add(self, rows: Array) -> None:
        values = flat(rows)
        if rows.dtype.kind != "f" or values.shape[1] > MOST_COLUMNS:
            return
        values = values.astype("f8")
        squares = numpy.square(values)
        sums = numpy.stack([values.sum(axis=0), squares.sum(axis=0)])
        if self.sums is not None and self.sums.shape != sums.shape:
            return
        self.form = rows.shape[1:]
        self.whole = self.whole and bool((values == numpy.floor(values)).all())
        self.sums = sums if self.sums is None else self.sums + sums
        self.rows += len(values)

    @property
    def known(self) -> bool:
        return self.sums is not None and self.rows >= FEW_ROWS

    def means(self) -> tuple[Array, Array]:
        """Mean and deviation of each column."""
        mean, square = self.sums / self.rows
        return mean, numpy.sqrt(numpy.maximum(square - mean * mean, 0.0))

    def unscaled(self) -> tuple[int, float, float]:
        """Columns that vary, and how far, at most, their means are from 0 and their deviations from
        1 by the statistics of these rows."""
        if not self.known or self.whole:
            return 0, 1.0, 1.0
        mean, deviation = self.means()
        vary = deviation > FLAT
        if not vary.any():
            return 0, 1.0, 1.0
        # A deviation over n - 1 is 1 where that over n is a little less.
        other = deviation * numpy.sqrt(self.rows / (self.rows - 1))
        off = numpy.minimum(abs(deviation - 1), abs(other - 1))[vary]
        farthest = abs(mean[vary]).max()
        return int(vary.sum()), float(farthest), float(off.max())

    def apart(self, train: Columns) -> tuple[int, float]:
        """Columns that vary in training, and the share of them that lie elsewhere here."""
        if not (self.known and train.known) or self.sums.shape != train.sums.shape:
            return 0, 0.0
        mean, deviation = self.means()
        other, width = train.means()
        vary = width > FLAT
        if not vary.any():
            return 0, 0.0
        with numpy.errstate(all="ignore"):
            off = abs(mean - other) > APART * (deviation + width) / 2
            ratio = deviation / width
        far = off | (ratio > OTHER_WIDTH) | (ratio < 1 / OTHER_WIDTH)
        return int(vary.sum()), float(far[vary].mean())

    def few(self) -> tuple[Array, Array]:
        """Mean and deviation of each column; of pictures those of each channel."""
        channels = [place for place, size in enumerate(self.form) if size == 3]
        if len(self.form) != 3 or len(channels) != 1:
            return self.means()
        both = (self.sums / self.rows).reshape(2, *self.form)
        rest = tuple(place + 1 for place in range(3) if place not in channels)
        mean, square = both.mean(axis=rest)
        return mean, numpy.sqrt(numpy.maximum(square - mean * mean, 0.0))

    def moved(self, train: Columns) -> int:
        """Columns that are those of other places in training, where each is one of them."""
        if not (self.known and train.known) or self.form != train.form:
            return 0
        mean, deviation = self.few()
        other, width = train.few()
        if not 3 <= len(mean) <= MOST_ORDERED:
            return 0
        if min(deviation.min(), width.min()) <= FLAT:
            return 0
        distance = abs(mean[:, None] - other[None]) / width[None]
        off = distance + abs(numpy.log(deviation[:, None] / width[None]))
        nearest = off.argmin(axis=1)
        places = numpy.arange(len(mean))
        away = nearest != places
        one_each = len(set(nearest.tolist())) == len(mean)
        close = bool((off[places, nearest] < CLOSE).all())
        far = bool((off[places, places][away] > OFF).all())
        if one_each and close and far:
            return int(away.sum())
        return 0

    def facts(self) -> Facts:
        columns, mean, deviation = self.unscaled()
        return {"columns": columns, "mean_off": mean, "deviation_off": deviation}


class Series:
    """A series that was cut into windows, each one step on: put together again from them."""

    def __init__(self) -> None:
        self.parts: list[Array] = []
        self.last: Array = None
        self.broken = False

    def add(self, rows: Array, labels: Array | None) -> None:
        """Windows in their order, with what follows each, where that is known."""
        is_numbers = rows.dtype.kind == "f" and rows.ndim in (2, 3)
        if self.broken or not is_numbers or rows.shape[1] < 3:
            self.broken = True
            return
        joined = rows
        if self.last is not None:
            joined = numpy.concatenate([self.last[None], rows])
        one_step_on = joined[1:, :-1] == joined[:-1, 1:]
        self.broken = not bool(one_step_on.all())
        if self.broken or len(joined) < 2:
            self.broken = True
            return
        if self.last is None:
            self.parts.append(rows[0])
        self.parts.append(joined[1:, -1])
        self.last = rows[-1]
        self.follows = self._after(labels)

    def _after(self, labels: Array | None) -> Array | None:
        """What follows the last window, in its own form."""
        if labels is None or labels.dtype.kind != "f" or self.last is None:
            return None
        after = labels[-1]
        return after.reshape(-1) if self.last.ndim == 1 else None

    def columns(self) -> list[Columns]:
        """The series without and with what follows its last window."""
        if self.broken or self.last is None:
            return []
        series = numpy.concatenate(self.parts)
        whole = [series]
        if self.follows is not None:
            whole.append(_longer(series, self.follows))
        return [_columns(rows.reshape(len(rows), -1)) for rows in whole]


def _longer(series: Array, after: Array) -> Array:
    return numpy.concatenate([series, after])


def _columns(rows: Array) -> Columns:
    columns = Columns()
    columns.add(rows)
    return columns
