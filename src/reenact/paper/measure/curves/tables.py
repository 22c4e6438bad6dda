"""Rows and histories that a program wrote: CSV, JSON, or a JSON object a line."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

from reenact.errors import ResultRefused
from reenact.paper.measure.curves.curve import EPOCH, STEP, Point
from reenact.paper.measure.curves.printed import AXES, is_curve, read_line
from reenact.probe.past.csvlog import DELIMITERS
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

DEEPEST = 3
"""Levels of names around a list of values: method, part of the data, metric."""
LONGEST_LABEL = 40


def read_rows(text: str) -> Iterator[Point]:
    """A table whose first row names its columns; words in a row say which training it is of."""
    lines = text.splitlines()
    if not lines:
        return
    delimiter = max(DELIMITERS, key=lines[0].count)
    try:
        for row in csv.DictReader(lines, delimiter=delimiter):
            yield _row({str(name).strip(): _cell(cell) for name, cell in row.items()})
    except csv.Error:
        return


def read_objects(lines: Sequence[str]) -> Iterator[Point]:
    """A JSON object a line; one that strict JSON refuses, such as one with a NaN, is read as words."""
    for line in lines:
        try:
            told = read_json(line.encode())
        except ResultRefused:
            point = read_line(line)
        else:
            point = _row(told) if isinstance(told, dict) else None
        if point is not None:
            yield point


def read_history(
    told: JsonValue, names: tuple[str, ...] = (), beside: Mapping[str, JsonValue] | None = None
) -> Iterator[Point]:
    """Lists of values below their names, or a list of rows. `beside` has the lists that count them."""
    if isinstance(told, dict) and len(names) < DEEPEST:
        axes = {AXES[name.lower()]: inner for name, inner in told.items() if name.lower() in AXES}
        for name, inner in told.items():
            yield from read_history(inner, (*names, name), axes or beside)
    elif isinstance(told, list) and told and all(isinstance(one, dict) for one in told):
        label = " ".join(names)[:LONGEST_LABEL]
        yield from (_row(one, label) for one in told if isinstance(one, dict))
    elif isinstance(told, list) and names and all(_is_number(one) for one in told):
        yield from _listed([one for one in told if isinstance(one, int | float)], names, beside or {})


def _listed(
    values: Sequence[float], names: tuple[str, ...], beside: Mapping[str, JsonValue]
) -> Iterator[Point]:
    """The values of one metric. Without a list beside it nobody knows what they are counted in."""
    *before, metric = names
    if metric.lower() in AXES or not is_curve(metric):
        return
    for number, value in enumerate(values):
        epoch, step = (_counted(beside.get(axis), number, len(values)) for axis in (EPOCH, STEP))
        told = ((metric, float(value)),)
        yield Point(told, " ".join(before)[:LONGEST_LABEL], epoch if step is None else None, step)


def _counted(axis: JsonValue, number: int, length: int) -> float | None:
    at = axis[number] if isinstance(axis, list) and len(axis) == length else None
    return float(at) if isinstance(at, int | float) and not isinstance(at, bool) else None


def _row(row: Mapping[str, JsonValue], label: str = "") -> Point:
    """Names and values that were told together."""
    words = [value for name, value in row.items() if isinstance(value, str) and is_curve(name)]
    places: dict[str, float] = {}
    values = []
    for name, value in row.items():
        if not isinstance(value, int | float) or isinstance(value, bool):
            continue
        axis = AXES.get(name.lower().rpartition("/")[2])
        if axis is not None:
            places.setdefault(axis, float(value))
        elif is_curve(name):
            values.append((name, float(value)))
    named = " ".join(part for part in (label, *words) if part)[:LONGEST_LABEL]
    # A step beside an epoch is counted through the whole training in what programs write to files.
    step = places.get(STEP)
    return Point(tuple(values), named, places.get(EPOCH) if step is None else None, step)


def _cell(cell: str | list[str] | None) -> JsonValue:
    if not isinstance(cell, str):
        return None
    try:
        return float(cell) if len(cell) < 100 and "_" not in cell else cell
    except ValueError:
        return cell.strip()


def _is_number(value: JsonValue) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
