"""Everything that a run told -> its curves. A log file says more than a printed line, and comes first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from reenact.codegen.runner import PRINTED
from reenact.errors import ResultRefused
from reenact.paper.measure.curves.curve import MOST_CURVES, Curve, Gathered, Point
from reenact.paper.measure.curves.printed import read_lines
from reenact.paper.measure.curves.tables import read_history, read_objects, read_rows
from reenact.sandbox.files.strict_json import read_json


def curves_of(told: Mapping[str, str]) -> tuple[Curve, ...]:
    """The curves in log files, by name, and in the printed lines; of two that are alike the first."""
    found: dict[tuple[str, str], Curve] = {}
    for name in sorted(told, key=lambda name: (name == PRINTED, name)):
        gathered = Gathered()
        for point in _points(name, told[name]):
            gathered.add(point)
        for curve in gathered.curves():
            found.setdefault((curve.label, curve.metric), curve)
    return tuple(found.values())[:MOST_CURVES]


def _points(name: str, text: str) -> Iterator[Point]:
    lines = text.splitlines()
    if name.endswith((".csv", ".tsv")):
        return read_rows(text)
    if name.endswith(".json"):
        try:
            return read_history(read_json(text.encode()))
        except ResultRefused:
            return iter(())
    if name.endswith((".jsonl", ".ndjson")):
        return read_objects(lines)
    return read_lines(lines)
