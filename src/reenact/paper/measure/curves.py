"""A curve: one value followed through a training; points gathered into curves; the curves of all seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING

from reenact.probe.trace import metric_name

if TYPE_CHECKING:
    from reenact.paper.measure.runs import FullRun

EPOCH, STEP, REPORT = "epoch", "step", "report"
"""What a curve is drawn against; a report is counted where neither epoch nor step is logged."""
MOST_CURVES = 60
MOST_POINTS = 400
LONGEST_NAME = 60
NOTHING = (
    "The runs logged nothing of their training: no printed line and no log file has a loss or a metric "
    "by epoch or step."
)


@dataclass(frozen=True, slots=True)
class Curve:
    """One value through one training."""

    metric: str
    """`loss`, `val_accuracy`, or the name that the run gives it."""
    label: str
    """Which of the run's trainings it is, in the run's words; empty when it has one, or names none."""
    axis: str
    """`epoch`, `step` or `report`."""
    at: tuple[float, ...]
    values: tuple[float | None, ...]
    """None where the value was no number, or infinite."""


@dataclass(frozen=True, slots=True)
class Point:
    """Values that were logged together."""

    values: tuple[tuple[str, float], ...]
    """Names as they stand, and numbers."""
    label: str = ""
    epoch: float | None = None
    step: float | None = None
    share: float | None = None
    """How much of the epoch the step is, where its steps are counted."""


@dataclass(slots=True)
class _Training:
    at: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, at: float, value: float) -> bool:
        """Take a value. A later one for the same place replaces it; one before it is of another training."""
        if self.at and at < self.at[-1]:
            return False
        if self.at and at == self.at[-1]:
            self.values[-1] = value
            return True
        self.at.append(at)
        self.values.append(value)
        return True


@dataclass(slots=True)
class Gathered:
    """Points as they come, by training, metric and axis."""

    _found: dict[tuple[str, str, str], list[_Training]] = field(default_factory=dict)
    _from_one: bool | None = None

    def add(self, point: Point) -> None:
        axis, at = self._place(point)
        if at is not None and not math.isfinite(at):
            return
        for name, value in point.values:
            key = (point.label[:LONGEST_NAME], metric_name(name)[:LONGEST_NAME], axis)
            if key not in self._found and len(self._found) >= MOST_CURVES:
                continue
            trainings = self._found.setdefault(key, [_Training()])
            where = len(trainings[-1].at) + 1 if at is None else at
            if not trainings[-1].add(where, value) and len(trainings) < MOST_CURVES:
                trainings.append(_Training([where], [value]))

    def _place(self, point: Point) -> tuple[str, float | None]:
        if point.epoch is None:
            return (REPORT, None) if point.step is None else (STEP, point.step)
        self._from_one = point.epoch >= 1 if self._from_one is None else self._from_one
        if point.share is not None:
            return EPOCH, point.epoch - self._from_one + point.share
        # Steps that are not counted start over in every epoch, or do not: nobody knows.
        return (EPOCH, point.epoch) if point.step is None else (REPORT, None)

    def curves(self) -> Iterator[Curve]:
        """Everything that has a course: two points or more."""
        for (label, metric, axis), trainings in self._found.items():
            worth = [one for one in trainings if len(one.at) > 1]
            for number, one in enumerate(worth, start=1):
                name = label if number == 1 else f"{label} ({number})".strip()
                values = tuple(value if math.isfinite(value) else None for value in one.values)
                yield _thinned(Curve(metric, name, axis, tuple(one.at), values))


def _thinned(one: Curve) -> Curve:
    every = math.ceil(len(one.at) / MOST_POINTS)
    if every == 1:
        return one
    keep = sorted({*range(0, len(one.at), every), len(one.at) - 1})
    return Curve(
        one.metric, one.label, one.axis, tuple(one.at[k] for k in keep), tuple(one.values[k] for k in keep)
    )


@dataclass(frozen=True, slots=True)
class Course:
    """The same curve of every seed that logged it."""

    metric: str
    axis: str
    label: str
    """The training, in the words of the runs; empty when they have one."""
    seeds: tuple[int, ...]
    curves: tuple[Curve, ...]

    @property
    def counted(self) -> str:
        """The seeds, in words."""
        return f"{len(self.seeds)} seeds" if len(self.seeds) > 1 else f"seed {self.seeds[0]}"

    @property
    def name(self) -> str:
        """What it is called beside the others of its metric."""
        return self.label or self.counted

    @property
    def ends(self) -> tuple[float, float] | None:
        """First and last value, means over the seeds; none when there is no number."""
        known = [[value for value in one.values if value is not None] for one in self.curves]
        pairs = [(values[0], values[-1]) for values in known if values]
        return (fmean(one for one, _ in pairs), fmean(one for _, one in pairs)) if pairs else None

    @property
    def until(self) -> str:
        """Where it ends, such as `epoch 40`."""
        return f"{self.axis} {max(one.at[-1] for one in self.curves):g}"

    @property
    def broken(self) -> int:
        """Seeds with values that are not numbers."""
        return sum(None in one.values for one in self.curves)


def courses(runs: Sequence[FullRun]) -> list[Course]:
    """All courses, those of one metric beside one another, in the order in which the runs log them."""
    found: dict[tuple[str, str, str], list[tuple[int, Curve]]] = {}
    for run in runs:
        for curve in run.curves:
            found.setdefault((curve.metric, curve.axis, curve.label), []).append((run.seed, curve))
    made = [
        Course(*key, tuple(seed for seed, _ in pairs), tuple(curve for _, curve in pairs))
        for key, pairs in found.items()
    ]
    order = list(dict.fromkeys((one.metric, one.axis) for one in made))
    return sorted(made, key=lambda one: order.index((one.metric, one.axis)))
