"""Everything that a run logged -> its curves: log files that the code names, printed lines in whatever style.

A log file has more than a printed line, and comes first: rows and histories as CSV, JSON, or a JSON object a
line. Printed are lines such as `epoch 3 of 10, training loss 0.2`, `{'loss': 0.2, 'epoch': 3}`, Keras's two
lines, or `[sgd] Epoch [3/10] Step [10/20] Loss: 0.2 | Val acc: 91.2%`. A number is named by the words before
it. Numbers without a name, times, seeds and rates are not curves.
"""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from reenact.codegen.project import METRICS, Project
from reenact.codegen.runner import PRINTED
from reenact.errors import ResultRefused
from reenact.paper.measure.curves import EPOCH, MOST_CURVES, STEP, Curve, Gathered, Point
from reenact.probe.trace import SPLITS, metric_name
from reenact.sandbox.files.strict_json import read_json
from reenact.types import JsonValue

AXES = {
    "epoch": EPOCH, "epochs": EPOCH, "ep": EPOCH,
    "step": STEP, "steps": STEP, "global_step": STEP, "iter": STEP, "iteration": STEP, "iterations": STEP,
    "it": STEP, "update": STEP, "updates": STEP, "batch": STEP,
}  # fmt: skip
NO_CURVE = frozenset(
    {
        "time", "s", "sec", "secs", "second", "seconds", "ms", "min", "minutes", "eta", "elapsed",
        "timestamp", "seed", "size", "samples", "examples", "memory", "gpu", "params", "parameters",
        "workers",
    }
)  # fmt: skip
"""Last words of names that are logged beside curves and are none."""
SILENT = frozenset(
    {"method", "model", "run", "name", "variant", "training", "info", "debug", "warning", "root"}
)
"""Words before a name that tell what kind of name follows."""
JOINS = frozenset({"after", "at", "in", "for", "on"})
"""`loss after epoch 3: 0.2`: the name stands before the epoch."""
MOST_WORDS = 5
LASTS = 3
"""Lines below one that tells the epoch alone which are still about it."""
_NUMBER = re.compile(
    r"(?<![\w.\-@^])(?P<value>[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?))"
    r"(?:\s*(?:/|of)\s*(?P<total>\d+))?\s?%?(?!\w|\.\d)",
    re.IGNORECASE,
)
_BREAK = re.compile(r"[,;|{}\[\]()\t]|\s[-–—>]+\s|:\s|\s{2,}|=(?=[A-Za-z'\"])")
_ENDS = " \t:=[({<\"'~≈>→"
_EDGES = " \t\"'`*#.:=]})>-"


@dataclass(slots=True)
class _Line:
    """What is known of a line while it is read."""

    label: str = ""
    split: str = ""
    waits: str = ""
    """A name whose number comes after that of the epoch."""
    axes: dict[str, tuple[float, float]] = field(default_factory=dict)
    values: list[tuple[str, float]] = field(default_factory=list)

    def take(self, parts: list[str], value: float, total: float) -> None:
        """One number with the words before it."""
        parts = [self.waits] if self.waits and parts in ([], ["is"]) else parts
        self.waits = ""
        if not parts:
            return
        *before, name = parts
        words = name.split()
        axis = AXES.get(words[-1].lower())
        if axis is not None:
            self._placed(before, words[:-1])
            self.axes.setdefault(axis, (value, total))
            return
        self._named(before)
        if len(words) <= MOST_WORDS and is_curve(name):
            self.values.append((f"{self.split} {name}".strip(), value))

    def _placed(self, before: Sequence[str], words: list[str]) -> None:
        """Words before an epoch or a step."""
        if words and words[-1].lower() in JOINS:
            self.waits, words = " ".join(words[:-1]), []
        self._named([*before, " ".join(words)])

    def _named(self, before: Sequence[str]) -> None:
        """Words before a name: which part of the data, else which training."""
        for part in before:
            words = [word for word in part.split() if word.lower() not in SILENT]
            if len(words) == 1 and words[0].lower() in SPLITS:
                self.split = words[0]
            elif words and not self.label and len(words) <= MOST_WORDS and is_curve(words[0]):
                self.label = " ".join(words)


def read_line(line: str) -> Point | None:
    """What a line tells; none when it has no number with a name."""
    found, end = _Line(), 0
    for number in _NUMBER.finditer(line):
        parts = [part.strip(_EDGES) for part in _BREAK.split(line[end : number.start()].rstrip(_ENDS))]
        worth = [part for part in parts if re.search(r"^[^\W\d_]", part)]
        found.take(worth, float(number["value"]), float(number["total"] or 0))
        end = number.end()
    if not found.axes and not found.values:
        return None
    epoch, (step, total) = found.axes.get(EPOCH), found.axes.get(STEP, (None, 0.0))
    share = step / total if step is not None and total else None
    return Point(tuple(found.values), found.label, epoch[0] if epoch else None, step, share)


def read_lines(lines: Sequence[str]) -> Iterator[Point]:
    """Points of a whole output; a line that tells the epoch alone is about those that follow it."""
    above, left = None, 0
    for line in lines:
        point = read_line(line)
        left -= 1
        if point is None:
            continue
        placed = point.epoch is not None or point.step is not None
        if placed and not point.values:
            above, left = point, LASTS + 1
        elif placed:
            yield point
        elif above is not None and left > 0:
            yield replace(above, values=point.values)


def is_curve(name: str) -> bool:
    """Whether a value of this name is worth a curve: a loss or a metric."""
    last = name.lower().replace("_", " ").split()[-1:]
    rate = metric_name(name) == "learning_rate"
    return bool(last) and last[0] not in NO_CURVE and not last[0].endswith(("/s", "/step")) and not rate


DELIMITERS = ",;\t|"
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
            row = read_json(line.encode())
        except ResultRefused:
            point = read_line(line)
        else:
            point = _row(row) if isinstance(row, dict) else None
        if point is not None:
            yield point


def read_history(
    value: JsonValue, names: tuple[str, ...] = (), beside: Mapping[str, JsonValue] | None = None
) -> Iterator[Point]:
    """Lists of values below their names, or a list of rows. `beside` has the lists that count them."""
    if isinstance(value, dict) and len(names) < DEEPEST:
        axes = {AXES[name.lower()]: inner for name, inner in value.items() if name.lower() in AXES}
        for name, inner in value.items():
            yield from read_history(inner, (*names, name), axes or beside)
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        label = " ".join(names)[:LONGEST_LABEL]
        yield from (_row(one, label) for one in value if isinstance(one, dict))
    elif isinstance(value, list) and names and all(_is_number(one) for one in value):
        yield from _listed([one for one in value if isinstance(one, int | float)], names, beside or {})


def _listed(
    values: Sequence[float], names: tuple[str, ...], beside: Mapping[str, JsonValue]
) -> Iterator[Point]:
    """The values of one metric. Without a list beside it nobody knows what they are counted in."""
    *before, metric = names
    if metric.lower() in AXES or not is_curve(metric):
        return
    for number, value in enumerate(values):
        epoch, step = (_counted(beside.get(axis), number, len(values)) for axis in (EPOCH, STEP))
        label = " ".join(before)[:LONGEST_LABEL]
        yield Point(((metric, float(value)),), label, epoch if step is None else None, step)


def _counted(axis: JsonValue, number: int, length: int) -> float | None:
    at = axis[number] if isinstance(axis, list) and len(axis) == length else None
    return float(at) if isinstance(at, int | float) and _is_number(at) else None


def _row(row: Mapping[str, JsonValue], label: str = "") -> Point:
    """Names and values that were logged together."""
    words = [value for name, value in row.items() if isinstance(value, str) and is_curve(name)]
    places: dict[str, float] = {}
    values = []
    for name, value in row.items():
        if not isinstance(value, int | float) or not _is_number(value):
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


MOST_LOGS = 12
SUFFIXES = (".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".log")
_LOG_NAME = re.compile(r"(?:[\w-][\w.-]*/){0,3}[\w-][\w.-]*")


def log_names(project: Project, seed: int) -> tuple[str, ...]:
    """Files that a run with this seed may leave its curves in; files of the project itself are none."""
    nodes = (node for tree in project.trees().values() for node in ast.walk(tree))
    kinds = ast.Constant | ast.JoinedStr | ast.BinOp
    texts = (_text(node, seed) for node in nodes if isinstance(node, kinds))
    names = dict.fromkeys(text.removeprefix("./") for text in texts if text)
    logs = (name for name in names if name.endswith(SUFFIXES) and _LOG_NAME.fullmatch(name))
    return tuple(name for name in logs if name not in project.files and name != METRICS)[:MOST_LOGS]


def _text(node: ast.expr, seed: int) -> str:
    """A literal, one with the seed in it, or folders and a name joined by `/`; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) and len(node.value) < 200 else ""
    if isinstance(node, ast.FormattedValue):
        return str(seed) if _last(node.value) == "seed" else ""
    if isinstance(node, ast.JoinedStr):
        parts = [_text(part, seed) for part in node.values]
        return "".join(parts) if all(parts) else ""
    if isinstance(node, ast.Call) and len(node.args) == 1 and _last(node.func).endswith("Path"):
        return _text(node.args[0], seed)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        folder, name = _text(node.left, seed), _text(node.right, seed)
        return f"{folder}/{name}" if folder and name else ""
    return ""


def _last(node: ast.expr) -> str:
    return ast.unparse(node).rpartition(".")[2]


def curves_of(logs: Mapping[str, str]) -> tuple[Curve, ...]:
    """The curves in log files, by name, and in the printed lines; of two that are alike the first."""
    found: dict[tuple[str, str], Curve] = {}
    for name in sorted(logs, key=lambda name: (name == PRINTED, name)):
        gathered = Gathered()
        for point in _points(name, logs[name]):
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
