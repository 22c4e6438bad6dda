"""How the full runs trained: what they logged, in whatever form -> a curve a metric.

A log file has more than a printed line, and comes first: rows and histories as CSV, JSON, or a JSON
object a line. Printed are lines such as `epoch 3 of 10, training loss 0.2`, `{'loss': 0.2, 'epoch':
3}`, Keras's two lines, or `[sgd] Epoch [3/10] Loss: 0.2 | Val acc: 91.2%`. All of them become rows
of names and values; a printed number is named by the words before it. Times, seeds and rates are
not curves.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeAlias

from reenact.codegen.project import METRICS, Project
from reenact.codegen.runner import PRINTED
from reenact.errors import ResultRefused
from reenact.probe.trace import SPLITS, metric_name
from reenact.sandbox.files.results import read_json
from reenact.types import JsonValue

EPOCH = "epoch"
STEP = "step"
REPORT = "report"
"""What a curve is drawn against; a report is counted where neither epoch nor step is logged."""
AXES = {
    "epoch": EPOCH,
    "epochs": EPOCH,
    "ep": EPOCH,
    "step": STEP,
    "steps": STEP,
    "global_step": STEP,
    "iter": STEP,
    "iteration": STEP,
    "iterations": STEP,
    "it": STEP,
    "update": STEP,
    "updates": STEP,
    "batch": STEP,
}
NO_CURVE = re.compile(
    r"time|s|secs?|seconds?|ms|min|minutes|eta|elapsed|timestamp|seed|size|samples|examples|memory|gpu|params"
    r"|parameters|workers|.*/s|.*/step"
)
"""Last words of names that are logged next to curves and are not."""
SILENT = re.compile(
    r"method|model|run|name|variant|training|info|debug|warning|root", re.IGNORECASE
)
"""Words before a name that tell what kind of name follows."""
WITHIN = "step within an epoch"
"""A printed step next to an epoch: it may start over in every epoch, so it places nothing."""
MOST_WORDS = 5
LOSSES = frozenset(("loss", "val_loss", "accuracy", "val_accuracy"))
"""Values that are not among a training's settings, wherever they are."""
LASTS = 3
"""Lines below one that reports the epoch alone which are still about it."""
DEEPEST = 3
"""Levels of names around a list of values: method, part of the data, metric."""
MOST_CURVES = 60
MOST_POINTS = 400
LONGEST_NAME = 60
MOST_LOGS = 12
NOTHING = (
    "The runs logged nothing of their training: no printed line and no log file has a loss or a "
    "metric"
)
NOTHING += " by epoch or step."
Row: TypeAlias = Mapping[str, JsonValue]
"""Values that were logged together, by their names; words among them say which training it is
of.
"""
_NUMBER = re.compile(
    r"(?i)(?<![\w.\-@^])(?P<value>[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?|nan|inf(?:inity)?))"
    r"(?:\s*(?:/|of)\s*\d+)?\s?%?(?!\w|\.\d)"
)
_BREAK = re.compile(r"[,;|{}\[\]()\t]|\s[-–—>]+\s|:\s|\s{2,}|=(?=[A-Za-z'\"])")
_AFTER = re.compile(
    r"([\w ]+?)\s+(?:after|at|in|for|on)\s+((?:epoch|step|iteration)\s+\d+):",
    re.IGNORECASE,
)
_LOG = re.compile(
    r"""["'](?:\./)?((?:[\w-][\w.-]*/){0,3}[\w-][\w.-]*\.(?:[ct]sv|jsonl?|ndjson|log))["']"""
)


@dataclass(frozen=True, slots=True)
class Curve:
    """One value through one training."""

    metric: str
    """`loss`, `val_accuracy`, or the name that the run gives it."""
    label: str
    """Which of the run's trainings it is, in the run's words; empty when it has one, or names
    none.
    """
    axis: str
    """`epoch`, `step` or `report`."""
    at: tuple[float, ...]
    values: tuple[float | None, ...]
    """None where the value was no number, or infinite."""


def log_names(project: Project, seed: int) -> tuple[str, ...]:
    """Files that a run with this seed may leave its curves in; files of the project itself are
    none. Names are literals, with the seed in them or not; `Path("out") / "log.csv"` is one too.
    """
    code = "\n".join(project.python.values())
    code = re.sub(
        r"\{[\w.]*\bseed\}",
        str(seed),
        re.sub(r"""["']\)?\s*/\s*f?["']""", "/", code),
    )
    names = dict.fromkeys(found[1] for found in _LOG.finditer(code))
    return tuple(name for name in names if name not in project.files and name != METRICS)[
        :MOST_LOGS
    ]


def curves_of(logs: Mapping[str, str]) -> tuple[Curve, ...]:
    """The curves in log files, by name, and in the printed lines; of two that are alike the
    first.
    """
    found: dict[tuple[str, str], Curve] = {}
    for name in sorted(
        logs,
        key=lambda name: (name == PRINTED, name),
    ):
        for curve in _gathered(_rows(name, logs[name])):
            found.setdefault((curve.label, curve.metric), curve)
    return tuple(found.values())[:MOST_CURVES]


def _rows(name: str, text: str) -> Iterable[Row]:
    lines = text.splitlines()
    if name.endswith((".csv", ".tsv")):
        return _table(lines)
    if name.endswith(".json"):
        try:
            return _history(read_json(text.encode()))
        except ResultRefused:
            return ()
    if name.endswith((".jsonl", ".ndjson")):
        return _objects(lines)
    return printed_rows(lines)


def _gathered(rows: Iterable[Row]) -> Iterator[Curve]:
    """Everything that has two points or more. A place before the last one is of another
    training.
    """
    found: dict[tuple[str, str, str], list[dict[float, float]]] = {}
    for row in rows:
        # A step is counted through the whole training in what programs write to files; a report as
        # it comes.
        places = {_axis(name): value for name, value in _numbers(row) if math.isfinite(value)}
        axis = next(
            (one for one in (STEP, EPOCH) if one in places and WITHIN not in row),
            REPORT,
        )
        at = places.get(axis)
        label = " ".join(
            word for name, word in row.items() if isinstance(word, str) and is_curve(name)
        )
        for name, value in _numbers(row):
            key = metric_name(name)[:LONGEST_NAME], label[:LONGEST_NAME], axis
            if (
                _axis(name)
                or not is_curve(name)
                or (key not in found and len(found) >= MOST_CURVES)
            ):
                continue
            trainings = found.setdefault(key, [{}])
            here = len(trainings[-1]) + 1 if at is None else at
            if (
                here
                < next(
                    reversed(trainings[-1]),
                    here,
                )
                and len(trainings) < MOST_CURVES
            ):
                trainings.append({})
            trainings[-1][here] = value
    for (metric, label, axis), trainings in found.items():
        for number, one in enumerate(
            (one for one in trainings if len(one) > 1),
            start=1,
        ):
            last = len(one) - 1
            every = math.ceil(len(one) / MOST_POINTS)
            kept = [
                pair
                for count, pair in enumerate(one.items())
                if count % every == 0 or count == last
            ]
            values = (value if math.isfinite(value) else None for _, value in kept)
            name = label if number == 1 else f"{label} ({number})".strip()
            yield Curve(
                metric,
                label=name,
                axis=axis,
                at=tuple(at for at, _ in kept),
                values=tuple(values),
            )


def _axis(name: str) -> str:
    """The axis that a name counts; empty for a value."""
    return AXES.get(
        name.lower().rpartition("/")[2],
        "",
    )


def _numbers(row: Row) -> Iterator[tuple[str, float]]:
    for name, value in row.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield name, float(value)


def is_curve(name: str) -> bool:
    """Whether a value of this name is worth a curve: a loss or a metric."""
    last = name.lower().replace("_", " ").split()[-1:]
    return bool(last) and not NO_CURVE.fullmatch(last[0]) and metric_name(name) != "learning_rate"


def printed_row(line: str) -> Row:
    """What a line reports: every number under the words before it."""
    row: dict[str, JsonValue] = {}
    written: dict[str, str] = {}
    axes_at: list[int] = []
    label = split = ""
    line = _AFTER.sub(r"\2, \1:", line)
    end = 0
    for number in _NUMBER.finditer(line):
        parts = [
            part.strip(" \t\"'`*#.:=]})>-") for part in _BREAK.split(line[end : number.start()])
        ]
        *before, name = [
            "",
            *(part for part in parts if re.match(r"[^\W\d_]", part)),
        ]
        end = number.end()
        *first, last = name.split() or [""]
        axis = AXES.get(last.lower())
        for part in [*before, " ".join(first)] if axis is not None else before:
            words = [word for word in part.split() if not SILENT.fullmatch(word)]
            if len(words) == 1 and words[0].lower() in SPLITS:
                split = words[0]
            elif words and not label and len(words) <= MOST_WORDS and is_curve(words[0]):
                label = " ".join(words)
        if axis is not None:
            row.setdefault(axis, float(number["value"]))
            axes_at.append(len(row))
        elif name and len(first) < MOST_WORDS:
            row[f"{split} {name}".strip()] = float(number["value"])
            written[f"{split} {name}".strip()] = f"{name} {number['value']}"
    names = list(row)
    before = []
    if axes_at:
        before = names[: axes_at[0] - 1]
    if before and any(is_curve(name) for name in names[axes_at[0] :] if name in written):
        # What is before the epoch, with values after it, says which training it is: `noise 0.3:
        # epoch 3`.
        settings = [
            written[name] for name in before if is_curve(name) and metric_name(name) not in LOSSES
        ]
        label = " ".join(
            [
                *([label] if label else []),
                *settings,
            ]
        )
        row = {name: value for name, value in row.items() if written.get(name) not in settings}
    if EPOCH in row and STEP in row:
        del row[STEP]
        row[WITHIN] = True
    return (
        {
            **row,
            "method": label,
        }
        if label
        else row
    )


def printed_rows(lines: Iterable[str]) -> Iterator[Row]:
    """Rows of a whole output; a line that reports the epoch alone is about those that follow it."""
    above: Row = {}
    left = 0
    for row in map(printed_row, lines):
        left -= 1
        places = {name for name in row if name in (EPOCH, STEP)}
        tells = any(name not in places and is_curve(name) for name, _ in _numbers(row))
        if places and not tells:
            above = row
            left = LASTS + 1
        elif tells and (places or left > 0):
            yield (
                row
                if places
                else {
                    **row,
                    **above,
                }
            )


def _table(lines: Sequence[str]) -> Iterator[Row]:
    """A table whose first row names its columns."""
    with suppress(csv.Error):
        for row in csv.DictReader(
            lines, delimiter=max(",;\t|", key=lines[0].count) if lines else ","
        ):
            yield {str(name).strip(): _cell(cell) for name, cell in row.items()}


def _cell(cell: str | list[str] | None) -> JsonValue:
    if not isinstance(cell, str):
        return None
    try:
        return float(cell) if len(cell) < 100 and "_" not in cell else cell
    except ValueError:
        return cell.strip()


def _objects(lines: Iterable[str]) -> Iterator[Row]:
    """A JSON object a line; one that strict JSON refuses, such as one with a NaN, is read as
    words.
    """
    for line in lines:
        try:
            row = read_json(line.encode())
        except ResultRefused:
            row = {**printed_row(line)}
        if isinstance(row, dict):
            yield row


def _history(
    value: JsonValue, names: tuple[str, ...] = (), beside: Row | None = None
) -> Iterator[Row]:
    """Lists of values below their names, or a list of rows. The second argument has the lists that count
    them.
    """
    if isinstance(value, dict) and len(names) < DEEPEST:
        axes = {name: inner for name, inner in value.items() if name.lower() in AXES}
        for name, inner in value.items():
            yield from _history(
                inner,
                (*names, name),
                axes or beside,
            )
    elif isinstance(value, list):
        for number, one in enumerate(value):
            if isinstance(one, dict):
                yield {
                    "method": " ".join(names),
                    **one,
                }
            elif names:
                axes = {
                    name: axis for name, axis in (beside or {}).items() if isinstance(axis, list)
                }
                counts = {
                    name: axis[number] for name, axis in axes.items() if len(axis) == len(value)
                }
                yield {
                    "method": " ".join(names[:-1]),
                    **counts,
                    names[-1]: one,
                }
