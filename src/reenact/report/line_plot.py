"""Curves over steps, with the moments at which something was noticed, as a drawing and as a
line of bars.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle, groupby, pairwise
from typing import TypeVar

from reenact.report import svg
from reenact.report.document import Picture
from reenact.report.svg import ALARM, COLOURS, DECADES, WIDTH, Scale

T = TypeVar("T")
LEFT = 56.0
RIGHT = 12.0
BOTTOM = 34.0
HEIGHT = 220.0
ROW = 14.0
"""Height of a row of words above the curves."""
LETTER = 6.6
"""Width of a letter, about."""
THIN = 1.0
"""Width of a curve of a group."""
MOST_POINTS = 400
BARS = "▁▂▃▄▅▆▇█"
SPARKS = 36
NAME = 22
"""Letters of a curve's name next to its bars."""
FEW = 24
"""Up to so many points each is shown as a dot too."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A named series."""

    name: str
    steps: Sequence[float]
    values: Sequence[float]
    group: str = field(default="", kw_only=True)
    """Curves of one group, such as the seeds of a method, are thin, of one colour, and one in
    the legend.
    """


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment worth pointing at."""

    step: float
    label: str


@dataclass(frozen=True, slots=True)
class Level:
    """A height worth pointing at."""

    value: float
    label: str
    group: str = ""
    """The group of curves that it is about, whose colour it has; empty: it is about all."""


def line_plot(
    title: str,
    curves: Sequence[Curve],
    *,
    marks: Sequence[Mark] = (),
    levels: Sequence[Level] = (),
    below: str = "step",
    log_x: bool = False,
    between: tuple[float, float] | None = None,
    words: str = "",
) -> Picture:
    """Curves on one pair of axes; a logarithmic height where the values span decades. `between`
    fixes the height: shares lie between 0 and 1, and look alike in every picture. `words` describe
    it in place of a line of bars for each curve.
    """
    alone = [one for one in curves if not one.group] or curves
    named = ((svg.shortened(one.name, NAME), one) for one in alone)
    described = [
        f"{name:{NAME}} {sparkline(list(one.values))}  {_ends(one)}" for name, one in named
    ]
    if marks:
        described.append(
            "noticed  " + ", ".join(f"{mark.label} at {below} {mark.step:g}" for mark in marks)
        )
    shown = [thinned(one) for one in curves if len(one.steps)]
    # Neighbours are below one another.
    rows = [at % 4 for at in range(len(marks))]
    # Of each curve that stands alone, and of each group, by its name in the legend.
    colours = dict(
        zip(
            dict.fromkeys(one.group or one.name for one in shown),
            cycle(COLOURS),
            strict=False,
        )
    )
    legend, last = _legend(shown, colours)
    # Further rows of the legend push down what is below the first.
    push = last * ROW
    top = 8.0 + push + ROW * (1 + max(rows, default=-1) + 1)
    steps = [step for one in shown for step in one.steps] + [mark.step for mark in marks]
    right = WIDTH - RIGHT - max((LETTER * len(level.label) for level in levels), default=0.0)
    x = svg.scale_for(steps, LEFT, right, logarithmic=log_x)
    if not x.logarithmic and steps:
        # From the first step on, so that plots of the same run below one another count alike.
        x = Scale(
            min(0.0, *steps),
            max(steps),
            LEFT,
            right,
        )
    heights = [value for one in shown for value in one.values] + [level.value for level in levels]
    floor = HEIGHT - BOTTOM
    y = svg.scale_for(heights, floor, top) if between is None else Scale(*between, floor, top)
    parts = [
        *_axes(x, y, top, below),
        *_marked(marks, rows, x, push),
    ]
    for one in shown:
        parts += _drawn(
            one,
            colour=colours[one.group or one.name],
            x=x,
            y=y,
            top=top,
        )
    parts += [
        *_levelled(levels, colours, y, right),
        *legend,
    ]
    label = f"{title}: {words or ' '.join(map(_ends, curves[:1]))}"
    return Picture(
        title,
        svg.drawing(parts, HEIGHT, label),
        words or "\n".join(described),
    )


def thinned(one: Curve) -> Curve:
    """At most a few hundred points, each the mean of its stretch; a bad value stays visible."""
    if len(one.steps) <= MOST_POINTS:
        return one
    values = []
    for stretch in _stretches(one.values, MOST_POINTS):
        bad = [value for value in stretch if not math.isfinite(value)]
        values.append(bad[0] if bad else sum(stretch) / len(stretch))
    steps = [stretch[0] for stretch in _stretches(one.steps, MOST_POINTS)]
    return Curve(one.name, steps, values, group=one.group)


def _axes(
    x: Scale,
    y: Scale,
    top: float,
    below: str,
) -> Iterator[str]:
    floor = HEIGHT - BOTTOM
    for tick in y.ticks():
        yield svg.line(
            LEFT,
            y(tick),
            x.end,
            y(tick),
            faint=True,
        )
        yield svg.text(
            LEFT - 6,
            y(tick) + 4,
            svg.number(tick),
            anchor="end",
        )
    for tick in x.ticks(8):
        yield svg.line(
            x(tick),
            floor,
            x(tick),
            floor + 4,
        )
        yield svg.text(
            x(tick),
            floor + 16,
            svg.number(tick),
            anchor="middle",
        )
    yield svg.line(LEFT, floor, x.end, floor)
    yield svg.line(LEFT, top, LEFT, floor)
    yield svg.text(
        x.end,
        HEIGHT - 4,
        below,
        anchor="end",
    )
    if y.logarithmic:
        yield svg.text(
            WIDTH - RIGHT,
            12,
            "logarithmic",
            anchor="end",
        )


def _marked(
    marks: Sequence[Mark],
    rows: Sequence[int],
    x: Scale,
    push: float,
) -> Iterator[str]:
    for mark, row in zip(marks, rows, strict=True):
        at = x(mark.step)
        aside, anchor = (-4, "end") if at > WIDTH * 0.8 else (4, "start")
        yield svg.line(
            at,
            10.0 + push + ROW * (row + 1),
            at,
            HEIGHT - BOTTOM,
            colour=ALARM,
            dashes="4 3",
        )
        yield svg.text(
            at + aside,
            8.0 + push + ROW * (row + 2) - 3,
            mark.label,
            anchor=anchor,
            colour=ALARM,
        )


def apart(
    places: Sequence[float],
    least: float,
    end: float,
) -> list[float]:
    """Places of labels, pushed apart so far that each can be read, none beyond the end."""
    order = sorted(
        range(len(places)),
        key=lambda at: places[at],
    )
    moved = list(places)
    for before, at in pairwise(order):
        moved[at] = max(moved[at], moved[before] + least)
    for after, at in pairwise(reversed(order)):
        moved[after] = min(moved[after], end)
        moved[at] = min(moved[at], moved[after] - least)
    return moved


def _levelled(
    levels: Sequence[Level],
    colours: Mapping[str, str],
    y: Scale,
    right: float,
) -> Iterator[str]:
    """Lines across, each with its label next to the curves."""
    heights = [y(level.value) for level in levels]
    for level, at, beside in zip(
        levels,
        heights,
        apart(
            heights,
            ROW - 2,
            HEIGHT - BOTTOM,
        ),
        strict=True,
    ):
        colour = colours.get(level.group, "currentColor")
        yield svg.line(
            LEFT,
            at,
            right,
            at,
            colour=colour,
            dashes="6 3",
        )
        yield svg.text(
            right + 5,
            beside + 4,
            level.label,
            colour=colour,
        )


def _drawn(
    one: Curve,
    colour: str,
    x: Scale,
    y: Scale,
    top: float,
) -> Iterator[str]:
    points = zip(one.steps, one.values, strict=True)
    for known, stretch in groupby(
        points,
        key=lambda point: math.isfinite(point[1]),
    ):
        if not known:
            for step, _ in stretch:
                yield svg.dot(x(step), top, ALARM)
            continue
        shown = [(x(step), y(value)) for step, value in stretch]
        if len(shown) > 1:
            yield svg.curve(
                shown,
                colour,
                THIN if one.group else 1.6,
            )
        if len(shown) == 1 or (len(one.steps) <= FEW and not one.group):
            for point in shown:
                yield svg.dot(*point, colour)


def _legend(
    curves: Sequence[Curve],
    colours: Mapping[str, str],
) -> tuple[list[str], int]:
    """Each name with its colour, a row that is full followed by another; and the number of the
    last row.
    """
    parts = list[str]()
    at = LEFT
    row = 0
    for name, colour in colours.items():
        width = 34 + LETTER * len(name)
        if at > LEFT and at + width > WIDTH - RIGHT:
            at = LEFT
            row = row + 1
        parts.append(
            svg.line(
                at,
                8 + ROW * row,
                at + 16,
                8 + ROW * row,
                colour=colour,
            )
        )
        parts.append(
            svg.text(
                at + 20,
                12 + ROW * row,
                name,
            )
        )
        at += width
    if any(not math.isfinite(value) for one in curves for value in one.values):
        parts.append(
            svg.dot(
                at + 6,
                8 + ROW * row,
                ALARM,
            )
        )
        parts.append(
            svg.text(
                at + 14,
                12 + ROW * row,
                "not a number, or infinite",
            )
        )
    return parts, row


def sparkline(values: Sequence[float], width: int = SPARKS) -> str:
    """The course of a series in one line; on a logarithmic scale where it spans decades."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return "not a number"
    low = min(finite)
    high = max(finite)
    height = Scale(
        low,
        high,
        0,
        len(BARS),
        logarithmic=low > 0 and high / low > DECADES,
    )
    marks = ""
    # As many values as fit, each the last of its stretch: a spike to infinity stays visible.
    for stretch in _stretches(values, min(width, len(values))):
        known = all(map(math.isfinite, stretch))
        at = 0
        if known and high > low:
            at = int(height(stretch[-1]))
        marks += BARS[min(len(BARS) - 1, at)] if known else "!"
    return marks


def _stretches(
    values: Sequence[T],
    count: int,
) -> Iterator[Sequence[T]]:
    """The values in so many parts of about the same length."""
    for at in range(count):
        yield values[at * len(values) // count : (at + 1) * len(values) // count]


def _ends(one: Curve) -> str:
    """First and last value; of a single one that value."""
    return " -> ".join(
        svg.number(value)
        for value in (
            one.values[0],
            one.values[-1],
        )[-len(one.values) :]
    )
