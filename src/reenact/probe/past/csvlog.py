"""A CSV log: what Keras's and Lightning's CSV loggers write, and any table with steps or epochs and metrics.

The first row names the columns. Cells that are empty or no number are left out, as is a last row cut off.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from reenact.errors import InputError
from reenact.probe.past.build import MOST_POINTS, Log, Point

MOST_BYTES = 64 << 20
MOST_CELLS = 4_000_000
MOST_COLUMNS = 2_000
DELIMITERS = ",;\t|"
STEPS = frozenset(
    (
        "step",
        "steps",
        "global_step",
        "trainer/global_step",
        "iteration",
        "iter",
        "iterations",
        "batch",
        "update",
    )
)
EPOCHS = frozenset({"epoch", "epochs"})
TIMES = frozenset({"time", "timestamp", "wall_time", "_timestamp", "elapsed", "seconds"})


@dataclass(frozen=True, slots=True)
class _Axis:
    """Where each row stands."""

    steps: Sequence[int]
    epochs: Sequence[int]
    counts_epochs: bool
    missing: tuple[str, ...] = ()


def read_log(data: bytes, name: str) -> Log:
    """The log in the bytes of a CSV file; `name` is for the reader of an error."""
    header, rows, torn = _table(data, name)
    words = [word.strip().lower() for word in header]
    step, epoch, time = (
        next((i for i, word in enumerate(words) if word in known), -1) for known in (STEPS, EPOCHS, TIMES)
    )
    axis = _axis(_column(rows, step), _column(rows, epoch), len(rows))
    metrics = [i for i in range(len(header)) if i not in (step, epoch, time) and header[i].strip()]
    times = _column(rows, time)
    points = [
        Point(header[i].strip(), value, axis.steps[at], axis.epochs[at], _or_nan(times[at]))
        for i in metrics
        for at, value in enumerate(_column(rows, i))
        if value is not None
    ]
    if len(points) > MOST_POINTS:
        raise InputError(
            f"A log has at most {MOST_POINTS} values. Received: {name}, which has {len(points)}."
        )
    if not points:
        raise InputError(
            f"No column of numbers beside steps and epochs was found. Received: {name}.",
            next_step="Give a table whose first row names columns such as epoch, loss, val_loss.",
        )
    missing = (*axis.missing, *(["the last row: it is cut off"] if torn else []))
    return Log("csv", points, complete=not torn, counts_epochs=axis.counts_epochs, missing=missing)


def _table(data: bytes, name: str) -> tuple[list[str], list[list[str]], bool]:
    try:
        text = data.decode("utf-8-sig")
        first = text[: text.find("\n")] if "\n" in text else text
        delimiter = max(DELIMITERS, key=first.count)
        rows = list(_rows(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), name))
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"This is no CSV log ({error}). Received: {name}.") from error
    header = rows[0] if rows else []
    if len(rows) < 2 or all(_number(cell) is not None for cell in header):
        raise InputError(
            f"A CSV log has a first row with names and rows of numbers below it. Received: {name}.",
            next_step="Put the names of the columns into the first row, such as epoch,loss,val_loss.",
        )
    if len(header) > MOST_COLUMNS:
        raise InputError(
            f"A CSV log has at most {MOST_COLUMNS} columns. Received: {name}, {len(header)} columns."
        )
    # A run that is appended to an older log may write its names again.
    body = [row for row in rows[1:] if row != header]
    torn = bool(body) and not text.endswith(("\n", "\r")) and len(body[-1]) < len(header)
    return header, body[:-1] if torn else body, torn


def _rows(reader: Iterable[list[str]], name: str) -> Iterator[list[str]]:
    cells = 0
    for row in reader:
        cells += len(row)
        if cells > MOST_CELLS:
            raise InputError(f"A CSV log has at most {MOST_CELLS} cells. Received: {name}, which has more.")
        if row:
            yield row


def _column(rows: Sequence[Sequence[str]], at: int) -> list[float | None]:
    if at < 0:
        return [None] * len(rows)
    return [_number(row[at]) if at < len(row) else None for row in rows]


def _number(cell: str) -> float | None:
    try:
        return float(cell) if len(cell) < 100 and "_" not in cell else None
    except ValueError:
        return None


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def _axis(steps: Sequence[float | None], epochs: Sequence[float | None], count: int) -> _Axis:
    known = [value for value in epochs if value is not None]
    first = 1 if known and min(known) >= 1 else 0
    numbers = [_whole(value, -1) if value is None else max(-1, _whole(value, -1) - first) for value in epochs]
    if any(value is not None for value in steps):
        return _numbered(steps, numbers)
    if not known:
        return _Axis(
            range(count), numbers, False, ("steps and epochs: the rows of the log are counted instead",)
        )
    if len(set(known)) == len(known) and all(value == int(value) for value in known if abs(value) < 1e15):
        return _Axis(numbers, numbers, True)
    return _Axis(
        range(count), numbers, False, ("the numbers of the steps: the rows of the log are counted instead",)
    )


def _numbered(steps: Sequence[float | None], epochs: Sequence[int]) -> _Axis:
    """Steps as they were logged; where they start over in each epoch, numbered through."""
    found = list(_filled(steps))
    back = [at for at in range(1, len(found)) if found[at] < found[at - 1]]
    if not back or len(set(epochs)) < 2:
        return _Axis(found, epochs, False)
    gaps = [later - step for step, later in pairwise(found) if later > step]
    stride, offset, through = int(median(gaps)) if gaps else 1, 0, found[:1]
    for at in range(1, len(found)):
        if found[at] < found[at - 1]:
            offset += found[at - 1] - found[at] + stride
        through.append(found[at] + offset)
    return _Axis(through, epochs, False, ("the numbers of the steps: they start over in each epoch",))


def _filled(steps: Sequence[float | None]) -> Iterator[int]:
    last = 0
    for value in steps:
        last = _whole(value, last)
        yield last


def _whole(value: float | None, otherwise: int) -> int:
    """A whole number that fits the arrays of a trace."""
    return int(value) if value is not None and abs(value) < 2**53 else otherwise
