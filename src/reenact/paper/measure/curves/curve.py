"""A curve: one value followed through a training; and points gathered into curves."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from reenact.probe.trace import metric_name

EPOCH, STEP, REPORT = "epoch", "step", "report"
"""What a curve is drawn against; a report is counted where neither epoch nor step is told."""
MOST_CURVES = 60
MOST_POINTS = 400
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class Curve:
    """One value through one training."""

    metric: str
    """`loss`, `val_accuracy`, or the name that the run gives it."""
    label: str
    """Which of the run's trainings it is, in the run's words; empty when it has one, or does not say."""
    axis: str
    """`epoch`, `step` or `report`."""
    at: tuple[float, ...]
    values: tuple[float | None, ...]
    """None where the value was no number, or infinite."""


@dataclass(frozen=True, slots=True)
class Point:
    """Values that were told together."""

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
        # Steps that are not counted begin anew in every epoch, or do not: nobody knows.
        return (EPOCH, point.epoch) if point.step is None else (REPORT, None)

    def curves(self) -> Iterator[Curve]:
        """Everything that has a course: two points or more."""
        for (label, metric, axis), trainings in self._found.items():
            worth = [one for one in trainings if len(one.at) > 1]
            for number, one in enumerate(worth, start=1):
                name = label if number == 1 else f"{label} ({number})".strip()
                yield _thinned(Curve(metric, name, axis, tuple(one.at), tuple(map(_known, one.values))))


def _thinned(one: Curve) -> Curve:
    every = math.ceil(len(one.at) / MOST_POINTS)
    if every == 1:
        return one
    keep = sorted({*range(0, len(one.at), every), len(one.at) - 1})
    return Curve(
        one.metric, one.label, one.axis, tuple(one.at[k] for k in keep), tuple(one.values[k] for k in keep)
    )


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
