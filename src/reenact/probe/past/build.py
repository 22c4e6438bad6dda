"""Makes a trace of logged values: single steps go into its steps, everything else into its metrics."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reenact.errors import InputError
from reenact.probe.columns import Columns, no_rows
from reenact.probe.past.names import Level, Name, understand
from reenact.probe.trace import Header, Metric, Trace

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = ("step", "time", "epoch", "loss", "learning_rate", "sampled", "grad_norm", "accuracy")
STEP_FACTS = ("loss", "learning_rate", "grad_norm", "accuracy")
"""Columns of the steps that a log may fill."""
MOST_POINTS = 500_000
MOST_NAMES = 10_000
NAN = float("nan")
_A_UNIX_TIME = 1e8
"""Seconds that are more than three years are no duration of a run."""
NEVER_LOGGED = (
    "gradients, weights and layer outputs: a log of scalars does not hold them",
    "the model graph and the facts of the data: a log of scalars does not hold them",
    "how the program ended: a log does not say it",
)


@dataclass(frozen=True, slots=True)
class Point:
    """One logged value."""

    logged: str
    """Its tag or column."""
    value: float
    step: int
    epoch: int = -1
    time: float = NAN
    """Unix time, or seconds since the run began; NaN when the log does not say."""
    split: str = ""
    """Prefix that the place of the log implies: `val_` for the folder `validation`."""


@dataclass(frozen=True, slots=True)
class Log:
    """Everything that one log holds."""

    kind: str
    """`tensorboard` or `csv`."""
    points: Sequence[Point]
    complete: bool = True
    counts_epochs: bool = False
    """Its steps are epochs."""
    missing: tuple[str, ...] = ()


@dataclass(slots=True)
class _Series:
    name: Name
    points: list[Point] = field(default_factory=list)


def as_trace(log: Log) -> Trace:
    """The trace of a past run."""
    if not log.points:
        raise InputError(
            "The log holds no number.", next_step="Give the log of a run that recorded its loss."
        )
    series = _by_name(log.points)
    began, ended = _span(log.points)
    stepwise = {} if log.counts_epochs else _stepwise(series)
    held = {id(found) for found in stepwise.values()}
    return Trace(
        header=Header(source=log.kind, started=began),
        steps=_steps(stepwise, began),
        layers=no_rows(("step", "layer", "phase")),
        parameters=no_rows(("step", "parameter")),
        layer_names=(),
        parameter_facts=(),
        metrics=tuple(_metrics([found for found in series if id(found) not in held], began)),
        events=(),
        graph=None,
        data=(),
        overlaps=(),
        crash=None,
        complete=log.complete,
        seconds=max(0.0, ended - began),
        probe_seconds=0.0,
        missing=(*NEVER_LOGGED, *_not_logged(series, stepwise), *log.missing),
    )


def _span(points: Sequence[Point]) -> tuple[float, float]:
    """When the run began and ended; it began at 0 where the log counts seconds."""
    times = [point.time for point in points if math.isfinite(point.time)]
    if not times:
        return 0.0, 0.0
    return (min(times) if min(times) > _A_UNIX_TIME else 0.0), max(times)


def _by_name(points: Sequence[Point]) -> list[_Series]:
    """Series by what was logged; of two that mean the same, the later one keeps its own name."""
    found: dict[tuple[str, str], _Series] = {}
    taken: set[Name] = set()
    for point in points:
        key = (point.split, point.logged)
        if key not in found:
            name = understand(point.logged, point.split)
            if name in taken:
                name = Name(point.split + point.logged, name.level)
            taken.add(name)
            found[key] = _Series(name)
        found[key].points.append(point)
    if len(found) > MOST_NAMES:
        raise InputError(f"A log has at most {MOST_NAMES} names. Received: {len(found)}.")
    return list(found.values())


def _stepwise(series: Sequence[_Series]) -> dict[str, _Series]:
    """The series that tell of single steps, by the column they fill."""
    held_out = {point.step for found in series if found.name.held_out for point in found.points}
    chosen: dict[str, _Series] = {}
    for found in sorted(series, key=lambda one: one.name.level is not Level.STEP):
        metric = found.name.metric
        if metric in STEP_FACTS and metric not in chosen and _tells_of_steps(found, held_out):
            chosen[metric] = found
    return chosen if "loss" in chosen else {}


def _tells_of_steps(series: _Series, held_out: set[int]) -> bool:
    """A value that always comes together with one of held-out data is one of an epoch. A rate never is."""
    if series.name.level is not Level.UNKNOWN:
        return series.name.level is Level.STEP
    if series.name.metric == "learning_rate":
        return True
    return any(point.step not in held_out for point in series.points)


def _steps(stepwise: Mapping[str, _Series], began: float) -> Columns:
    import numpy as np

    if not stepwise:
        return no_rows(COLUMNS)
    rows: dict[int, dict[str, float]] = defaultdict(dict)
    for column, series in stepwise.items():
        for point in series.points:
            row = rows[point.step]
            row[column] = point.value
            row.setdefault("time", point.time - began)
            row["epoch"] = max(row.get("epoch", -1), point.epoch)
    table = [[rows[step].get(column, NAN) for column in COLUMNS] for step in sorted(rows)]
    found = np.array(table, dtype=np.float64)
    found[:, COLUMNS.index("step")] = sorted(rows)
    found[:, COLUMNS.index("sampled")] = 0
    return Columns(COLUMNS, found)


def _metrics(series: Sequence[_Series], began: float) -> list[Metric]:
    found = [
        Metric(one.name.metric, point.value, point.step, point.epoch, point.time - began, "log")
        for one in series
        for point in one.points
    ]
    return sorted(found, key=lambda metric: (metric.step, metric.time if math.isfinite(metric.time) else 0.0))


def _not_logged(series: Sequence[_Series], stepwise: Mapping[str, _Series]) -> Iterator[str]:
    names = {found.name.metric for found in series}
    if "loss" not in names:
        yield "the training loss: no logged name reads like it"
    elif "loss" not in stepwise:
        yield "the loss of single steps: the log holds one value an epoch, among the metrics"
    else:
        steps = sorted({point.step for point in stepwise["loss"].points})
        every = (steps[-1] - steps[0]) / max(1, len(steps) - 1)
        if every > 1:
            yield f"the loss of every step: the log holds one in about {every:.0f}"
    if "learning_rate" not in names:
        yield "the learning rate: it was not logged"
    if not any(found.name.held_out for found in series):
        yield "metrics of held-out data: none was logged"
