"""Curves over steps, with the moments at which something was noticed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reenact.report.svg import (
    ALARM,
    COLOURS,
    WIDTH,
    Scale,
    curve,
    dashed,
    dot,
    drawing,
    line,
    number,
    scale_for,
    text,
)

LEFT, RIGHT, BOTTOM = 56.0, 12.0, 34.0
HEIGHT = 220.0
ROW = 14.0
"""Height of a row of words above the curves."""
MOST_POINTS = 400
FEW = 24
"""Up to so many points each is shown as a dot too."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A named series."""

    name: str
    steps: Sequence[float]
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment worth pointing at."""

    step: float
    label: str


def lines(
    curves: Sequence[Curve],
    label: str,
    *,
    marks: Sequence[Mark] = (),
    below: str = "step",
    log_x: bool = False,
    between: tuple[float, float] | None = None,
) -> str:
    """All curves on one pair of axes; a logarithmic height where the values span decades.

    `between` fixes the height: shares lie between 0 and 1, and look alike in every picture.
    """
    shown = [thinned(one) for one in curves if len(one.steps)]
    rows = mark_rows(marks)
    top = 8.0 + ROW * (1 + max(rows, default=-1) + 1)
    steps = [step for one in shown for step in one.steps] + [mark.step for mark in marks]
    x = scale_for(steps, LEFT, WIDTH - RIGHT, logarithmic=log_x)
    if not x.logarithmic and steps:
        x = Scale(min(steps), max(steps), LEFT, WIDTH - RIGHT)
    heights = (value for one in shown for value in one.values)
    y = scale_for(heights, HEIGHT - BOTTOM, top)
    if between is not None:
        y = Scale(*between, HEIGHT - BOTTOM, top)
    parts = [*_axes(x, y, top, below), *_marked(marks, rows, x)]
    for at, one in enumerate(shown):
        parts += _drawn(one, COLOURS[at % len(COLOURS)], x, y, top)
    parts += _legend(shown)
    return drawing(parts, HEIGHT, label)


def thinned(one: Curve) -> Curve:
    """At most a few hundred points, each the mean of its stretch; a bad value stays visible."""
    count = len(one.steps)
    if count <= MOST_POINTS:
        return one
    steps, values = [], []
    for number_ in range(MOST_POINTS):
        start, end = number_ * count // MOST_POINTS, (number_ + 1) * count // MOST_POINTS
        stretch = list(one.values[start:end])
        bad = [value for value in stretch if not math.isfinite(value)]
        steps.append(one.steps[start])
        values.append(bad[0] if bad else sum(stretch) / len(stretch))
    return Curve(one.name, steps, values)


def mark_rows(marks: Sequence[Mark]) -> list[int]:
    """For each mark the row of its label: neighbours stand below one another."""
    return [at % 4 for at in range(len(marks))]


def _axes(x: Scale, y: Scale, top: float, below: str) -> Iterator[str]:
    floor = HEIGHT - BOTTOM
    for tick in y.ticks():
        yield line(LEFT, y(tick), WIDTH - RIGHT, y(tick), faint=True)
        yield text(LEFT - 6, y(tick) + 4, number(tick), anchor="end")
    for tick in x.ticks(8):
        yield line(x(tick), floor, x(tick), floor + 4)
        yield text(x(tick), floor + 16, number(tick), anchor="middle")
    yield line(LEFT, floor, WIDTH - RIGHT, floor)
    yield line(LEFT, top, LEFT, floor)
    yield text(WIDTH - RIGHT, HEIGHT - 4, below, anchor="end")
    if y.logarithmic:
        yield text(WIDTH - RIGHT, 12, "logarithmic", anchor="end")


def _marked(marks: Sequence[Mark], rows: Sequence[int], x: Scale) -> Iterator[str]:
    for mark, row in zip(marks, rows, strict=True):
        at = x(mark.step)
        late = at > WIDTH * 0.8
        yield dashed(at, 10.0 + ROW * (row + 1), HEIGHT - BOTTOM, ALARM)
        height = 8.0 + ROW * (row + 2) - 3
        yield text(
            at + (-4 if late else 4), height, mark.label, anchor="end" if late else "start", colour=ALARM
        )


def _drawn(one: Curve, colour: str, x: Scale, y: Scale, top: float) -> Iterator[str]:
    stretch: list[tuple[float, float]] = []
    for step, value in zip(one.steps, one.values, strict=True):
        if math.isfinite(value):
            stretch.append((x(step), y(value)))
            continue
        yield from _stretch(stretch, colour, len(one.steps))
        stretch = []
        yield dot(x(step), top, ALARM)
    yield from _stretch(stretch, colour, len(one.steps))


def _stretch(points: Sequence[tuple[float, float]], colour: str, count: int) -> Iterator[str]:
    if len(points) > 1:
        yield curve(points, colour)
    if points and (len(points) == 1 or count <= FEW):
        yield from (dot(x, y, colour) for x, y in points)


def _legend(curves: Sequence[Curve]) -> Iterator[str]:
    at = LEFT
    for number_, one in enumerate(curves):
        yield line(at, 8, at + 16, 8, colour=COLOURS[number_ % len(COLOURS)])
        yield text(at + 20, 12, one.name)
        at += 34 + 6.6 * len(one.name)
    if any(not math.isfinite(value) for one in curves for value in one.values):
        yield dot(at + 6, 8, ALARM)
        yield text(at + 14, 12, "not a number, or infinite")
