"""Charts next to curves: layers against steps, samples side by side, a graph."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from statistics import median

from reenact.report import svg
from reenact.report.document import Picture
from reenact.report.svg import ALARM, COLOURS, WIDTH

LEFT = 150.0
HEAT_RIGHT = 12.0
HEAT_TOP = 30.0
HEAT_BOTTOM = 32.0
CELL = 18.0
MOST_COLUMNS = 90
MOST_ROWS = 40
LABELS = 6
LONGEST_NAME = 22
NAMED_LAYERS = 8
NAN = "#111111"
Stops = tuple[tuple[float, tuple[int, int, int]], ...]
RISING: Stops = (
    (0.0, (38, 70, 130)),
    (0.5, (60, 160, 150)),
    (1.0, (245, 220, 90)),
)
ALARMING: Stops = (
    (0.0, (214, 226, 220)),
    (0.5, (236, 165, 80)),
    (1.0, (190, 30, 45)),
)
BALANCED: Stops = (
    (0.0, (50, 90, 190)),
    (0.5, (222, 224, 214)),
    (1.0, (195, 40, 45)),
)
STRIPS_RIGHT = 90.0
STRIPS_TOP = 8.0
STRIPS_BOTTOM = 34.0
BAND = 34.0
GRAPH_TOP = 14.0
GRAPH_LEFT = 40.0
KEY = 18.0
GRAPH_ROW = 26.0
LEAST_HEIGHT = 120.0


class Shade(StrEnum):
    """What the colours mean."""

    SIZE = "size"
    """From the smallest to the largest, on a logarithmic scale."""
    SHARE = "share"
    """From 0, as it should be, to 1, alarming."""
    RATIO = "ratio"
    """About one thousandth, as it should be, in the middle; ten thousand times less or more at
    the ends.
    """


HeatRow = tuple[str, Sequence[float | None]]
"""A layer and its values over the steps; one that was not seen is not one."""


def heat_plot(
    title: str,
    rows: Sequence[HeatRow],
    steps: Sequence[int],
    shade: Shade,
) -> Picture:
    """Layers against steps: one row a layer, and a cell from each step that was looked at to the next."""
    shown = rows[:MOST_ROWS]
    kept = list(range(len(steps)))
    if len(steps) > MOST_COLUMNS:
        kept = sorted(
            {round(at * (len(steps) - 1) / (MOST_COLUMNS - 1)) for at in range(MOST_COLUMNS)}
        )
    low, high = bounds(shown, shade)
    looked_at = [steps[at] for at in kept]
    along = _step_scale(looked_at)
    parts = list(_scale_bar(low, high, shade))
    for at, (name, values) in enumerate(shown):
        y = HEAT_TOP + at * CELL
        parts.append(
            svg.text(
                LEFT - 6,
                y + CELL - 5,
                svg.shortened(name, LONGEST_NAME),
                anchor="end",
            )
        )
        for at_step, upto in zip(kept, [*kept[1:], None], strict=True):
            step, value = steps[at_step], values[at_step]
            if value is None:
                continue
            x = along(step)
            width = (along.end if upto is None else along(steps[upto])) - x
            known = math.isfinite(value)
            fill = shade_colour(value, low, high, shade) if known else NAN
            hint = f"{name}, step {step:g}: {svg.number(value)}"
            parts.append(
                svg.box(
                    x,
                    y=y,
                    width=width + 0.3,
                    height=CELL - 1,
                    colour=fill,
                    hint=hint,
                )
            )
            parts += (
                []
                if known
                else [
                    svg.line(
                        x,
                        y,
                        x + width,
                        y + CELL - 1,
                        colour=ALARM,
                    )
                ]
            )
    floor = HEAT_TOP + len(shown) * CELL
    parts += _step_labels(along, floor, drawn=bool(looked_at))
    if len(rows) > len(shown):
        parts.append(
            svg.text(
                LEFT - 6,
                floor + 28,
                f"and {len(rows) - len(shown)} more",
                anchor="end",
            )
        )
    parts.append(
        svg.line(
            LEFT,
            floor,
            WIDTH - HEAT_RIGHT,
            floor,
            faint=True,
        )
    )
    medians = []
    for name, values in rows[:NAMED_LAYERS]:
        finite = [value for value in values if value is not None and math.isfinite(value)]
        medians.append(f"{name} {svg.number(median(finite)) if finite else 'not a number'}")
    if len(rows) > NAMED_LAYERS:
        medians.append(f"and {len(rows) - NAMED_LAYERS} more")
    alt = f"median by layer: {', '.join(medians)}"
    return Picture(
        title,
        svg.drawing(
            parts,
            floor + HEAT_BOTTOM,
            f"{title}; {alt}",
        ),
        alt,
    )


def bounds(
    rows: Sequence[HeatRow],
    shade: Shade,
) -> tuple[float, float]:
    """The values of the first and the last colour."""
    if shade is not Shade.SIZE:
        if shade is Shade.SHARE:
            return (0.0, 1.0)
        return (1e-7, 1e1)
    known = [
        value for _, row in rows for value in row if value and math.isfinite(value) and value > 0
    ]
    if not known:
        return 1e-6, 1.0
    low = min(known)
    high = max(known)
    return max(low, high * 1e-12), high if high > low else low * 10


def shade_colour(value: float, low: float, high: float, shade: Shade) -> str:
    """The colour of a finite value."""
    if shade is Shade.SHARE:
        return blend(ALARMING, value)
    share = math.log(max(value, low) / low) / math.log(high / low)
    return blend(BALANCED if shade is Shade.RATIO else RISING, share)


def _step_scale(steps: Sequence[int]) -> svg.Scale:
    """Steps along the width; the last one is as wide as the cells are in the median."""
    first = steps[0] if steps else 0
    gaps = [later - now for now, later in pairwise(steps)] or [1]
    last = steps[-1] if steps else 0
    return svg.Scale(first, last + median(gaps), LEFT, WIDTH - HEAT_RIGHT)


def _step_labels(along: svg.Scale, floor: float, *, drawn: bool) -> Iterator[str]:
    """Round numbers of steps, where they lie."""
    if not drawn:
        return
    for tick in along.ticks(LABELS):
        x = along(tick)
        yield svg.line(x, floor, x, floor + 4)
        yield svg.text(x, floor + 16, f"{tick:g}", anchor="middle")
    yield svg.text(LEFT - 6, floor + 16, "step", anchor="end")


def _scale_bar(low: float, high: float, shade: Shade) -> Iterator[str]:
    count = 40
    width = 4.0
    start = WIDTH - HEAT_RIGHT - count * width - 44
    for at in range(count):
        share = at / (count - 1)
        value = share if shade is Shade.SHARE else low * (high / low) ** share
        yield svg.box(
            start + at * width,
            y=6,
            width=width + 0.3,
            height=10,
            colour=shade_colour(value, low, high, shade),
        )
    yield svg.text(
        start - 5,
        15,
        svg.number(low),
        anchor="end",
    )
    yield svg.text(
        start + count * width + 5,
        15,
        svg.number(high),
    )


def blend(stops: Stops, share: float) -> str:
    """The colour at a share between 0 and 1."""
    inside = min(1.0, max(0.0, share))
    upper = next(at for at in range(1, len(stops)) if inside <= stops[at][0])
    (start, first), (end, second) = stops[upper - 1], stops[upper]
    part = (inside - start) / (end - start)
    mixed = (round(a + part * (b - a)) for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)


def before_after_plot(
    title: str,
    before: Sequence[float],
    after: Sequence[float],
    below: str,
) -> Picture:
    """What a change did: a band before and one after, a dot a seed. What is not finite is a
    failure.
    """
    x = svg.scale_for(
        (*before, *after),
        LEFT,
        WIDTH - STRIPS_RIGHT,
    )
    floor = STRIPS_TOP + 2 * BAND
    parts = [
        svg.line(LEFT, floor, x.end, floor),
        svg.text(x.end, floor + 30, below, anchor="end"),
    ]
    for tick in x.ticks(6):
        parts += [
            svg.line(
                x(tick),
                STRIPS_TOP,
                x(tick),
                floor,
                faint=True,
            )
        ]
        parts += [
            svg.text(
                x(tick),
                floor + 15,
                svg.number(tick),
                anchor="middle",
            )
        ]
    for at, (name, values) in enumerate((("unchanged", before), ("changed", after))):
        middle = STRIPS_TOP + BAND * (at + 0.5)
        colour = COLOURS[at]
        parts.append(
            svg.text(
                LEFT - 8,
                middle + 4,
                name,
                anchor="end",
            )
        )
        known = [value for value in values if math.isfinite(value)]
        # Dots that would cover one another step up and down by turns.
        for nth, value in enumerate(sorted(known)):
            parts.append(
                svg.dot(
                    x(value),
                    middle + (-5, 0, 5)[nth % 3],
                    colour,
                    3.5,
                )
            )
        if known:
            centre = x(median(known))
            parts.append(
                svg.line(
                    centre,
                    middle - 12,
                    centre,
                    middle + 12,
                    colour=colour,
                )
            )
        if len(known) < len(values):
            parts.append(
                svg.text(
                    x.end + 8,
                    middle + 4,
                    f"{len(values) - len(known)} failed",
                    colour=ALARM,
                )
            )
    was, became = (", ".join(map(svg.number, values)) for values in (before, after))
    alt = f"{below} over {len(before)} seeds. unchanged: {was}; changed: {became}"
    return Picture(
        title,
        svg.drawing(parts, floor + STRIPS_BOTTOM, alt),
        alt,
    )


@dataclass(frozen=True, slots=True)
class Dot:
    """One node."""

    parent: int
    """Number of the node it hangs on; -1 for none."""
    depth: int
    colour: str
    words: str
    large: bool = False


def graph_plot(
    title: str,
    dots: Sequence[Dot],
    meaning: Mapping[str, str],
) -> Picture:
    """Nodes that hang on one another; `meaning` of the colours: of those that are used it
    is below.
    """
    columns = defaultdict[int, list[int]](list)
    for at, one in enumerate(dots):
        columns[one.depth].append(at)
    widest = max((len(column) for column in columns.values()), default=1)
    height = max(LEAST_HEIGHT, GRAPH_ROW * min(widest, 18))
    across = WIDTH - 2 * GRAPH_LEFT
    places = {
        node: (
            GRAPH_LEFT + across * depth / max(1, *columns),
            GRAPH_TOP + height * (at + 0.5) / len(column),
        )
        for depth, column in columns.items()
        for at, node in enumerate(column)
    }
    nodes = [(one, places[at]) for at, one in enumerate(dots)]
    parts = [
        svg.line(
            *places[one.parent],
            *at,
            faint=True,
        )
        for one, at in nodes
        if one.parent >= 0
    ]
    parts += [
        svg.named(
            svg.dot(
                *at,
                one.colour,
                7.0 if one.large else 5.0,
            ),
            one.words,
        )
        for one, at in nodes
    ]
    counts = Counter(one.colour for one in dots)
    key = [(colour, words) for colour, words in meaning.items() if counts[colour]]
    below = GRAPH_TOP + height + KEY
    for at, (colour, words) in enumerate(key):
        x = GRAPH_LEFT / 2 + at * (WIDTH - GRAPH_LEFT) / len(key)
        parts += [
            svg.dot(x, below, colour, 5.0),
            svg.text(x + 10, below + 4, words),
        ]
    alt = ", ".join(f"{counts[colour]} {words}" for colour, words in key)
    return Picture(
        title,
        svg.drawing(
            parts,
            below + KEY,
            f"{title}: {alt}",
        ),
        alt,
    )
