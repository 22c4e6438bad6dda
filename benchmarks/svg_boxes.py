"""Box plots: quartiles as a box, the median as a bar, whiskers to what is not far off, every
value a dot.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import quantiles

from reenact.report.svg import (
    COLOURS,
    WIDTH,
    Scale,
    dot,
    drawing,
    line,
    named,
    number,
    scale_for,
    shortened,
    text,
)

LEFT, RIGHT, TOP, BOTTOM = 110.0, 24.0, 26.0, 38.0
LINE = 16.0
"""Of the legend: what does not fit into one goes on in the next."""
THICK, GAP = 13.0, 7.0
"""Of one box, and between two bands."""
FAR = 1.5
"""Whiskers reach so many boxes' lengths beyond the box."""

Row = tuple[str, Mapping[str, Sequence[float]]]


def boxes(
    rows: Sequence[Row],
    label: str,
    *,
    below: str,
    marks: Mapping[str, float] | None = None,
    marked: str = "",
    goal: float | None = None,
    bounds: tuple[float, float] | None = None,
) -> str:
    """One band a row with one box a series, all on one axis; what is not finite is left out."""
    marks = marks or {}
    series = list(dict.fromkeys(name for _, samples in rows for name in samples))
    values = [value for _, samples in rows for sample in samples.values() for value in sample]
    x = _axis([*values, *marks.values(), *([goal] if goal is not None else [])], bounds)
    band = THICK * max(1, len(series)) + GAP
    legend, ceiling = _legend(series, marked)
    floor = ceiling + band * len(rows)
    parts = [*_frame(x, ceiling, floor, below), *legend]
    for at, (name, samples) in enumerate(rows):
        top = ceiling + band * at
        parts.append(text(LEFT - 8, top + band / 2 + 4, shortened(name, 16), anchor="end"))
        for nth, one in enumerate(series):
            middle = top + GAP / 2 + THICK * (nth + 0.5)
            known = [value for value in samples.get(one, ()) if math.isfinite(value)]
            parts += (
                _box(known, x, middle, COLOURS[nth % len(COLOURS)], f"{name}, {one}")
                if known
                else []
            )
        if name in marks:
            parts.append(
                _triangle(x(marks[name]), top + band / 2, f"{name}, {marked}: {marks[name]:g}")
            )
    if goal is not None:
        parts.append(line(x(goal), ceiling, x(goal), floor, dashes="4 3"))
    return drawing(parts, floor + BOTTOM, label)


def _axis(values: Sequence[float], bounds: tuple[float, float] | None) -> Scale:
    start, end = LEFT, WIDTH - RIGHT
    return (
        Scale(*bounds, start, end) if bounds else scale_for(values, start, end, logarithmic=False)
    )


def _frame(x: Scale, ceiling: float, floor: float, below: str) -> Iterator[str]:
    yield line(LEFT, floor, WIDTH - RIGHT, floor)
    yield text(WIDTH - RIGHT, floor + 31, below, anchor="end")
    for tick in x.ticks(8):
        yield line(x(tick), ceiling, x(tick), floor, faint=True)
        yield text(x(tick), floor + 15, number(tick), anchor="middle")


def _legend(series: Sequence[str], marked: str) -> tuple[list[str], float]:
    """The legend, and where the bands begin below it."""
    parts: list[str] = []
    at, top = LEFT, 10.0
    for nth, name in enumerate([*series, *([marked] if marked else [])]):
        wide = 34 + 6.2 * len(name)
        if at > LEFT and at + wide > WIDTH:
            at, top = LEFT, top + LINE
        is_mark = nth == len(series)
        parts.append(
            _triangle(at + 4, top, name)
            if is_mark
            else dot(at + 4, top, COLOURS[nth % len(COLOURS)], 4)
        )
        parts.append(text(at + (14 if is_mark else 12), top + 4, name))
        at += wide
    return parts, TOP - 10.0 + top


def _box(known: Sequence[float], x: Scale, middle: float, colour: str, whose: str) -> Iterator[str]:
    low, half, high = (
        quantiles(known, n=4, method="inclusive") if len(known) > 1 else (known[0],) * 3
    )
    reach = FAR * (high - low)
    near = [value for value in known if low - reach <= value <= high + reach]
    left, right = x(low), x(high)
    thick = THICK - 4
    yield line(x(min(near)), middle, x(max(near)), middle, colour=colour)
    yield named(
        f'<rect x="{left:.1f}" y="{middle - thick / 2:.1f}" width="{max(right - left, 1):.1f}" '
        f'height="{thick:g}" fill="{colour}" fill-opacity=".25" stroke="{colour}"/>',
        (
            f"{whose}: median {number(half)}, quartiles {number(low)} to {number(high)}, "
            f"{len(known)} values"
        ),
    )
    yield line(x(half), middle - thick / 2, x(half), middle + thick / 2, colour=colour)
    for value in known:
        yield dot(x(value), middle, colour, 1.8)


def _triangle(x: float, y: float, hint: str) -> str:
    return named(f'<path d="M{x:.1f} {y - 5:.1f}l5 9h-10z"/>', hint)


def standalone(drawn: str) -> str:
    """A drawing as a file of its own: it names its language, and brings its own paper and ink."""
    head, _, rest = drawn.partition(">")
    head = head.replace(
        "<svg ",
        '<svg xmlns="http://www.w3.org/2000/svg" color="#1a1a1a" font-family="sans-serif" ',
        1,
    )
    return f'{head}><rect width="100%" height="100%" fill="#ffffff"/>{rest}'
