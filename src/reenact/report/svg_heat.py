"""Layers against steps: one coloured cell for each."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from reenact.report.svg import ALARM, WIDTH, box, drawing, line, number, shortened, text

LEFT, RIGHT, TOP, BOTTOM = 150.0, 12.0, 30.0, 26.0
CELL = 18.0
MOST_COLUMNS = 90
MOST_ROWS = 40
LABELS = 6
LONGEST_NAME = 22
NAN = "#111111"

Stops = tuple[tuple[float, tuple[int, int, int]], ...]
RISING: Stops = ((0.0, (38, 70, 130)), (0.5, (60, 160, 150)), (1.0, (245, 220, 90)))
ALARMING: Stops = ((0.0, (214, 226, 220)), (0.5, (236, 165, 80)), (1.0, (190, 30, 45)))
BALANCED: Stops = ((0.0, (50, 90, 190)), (0.5, (222, 224, 214)), (1.0, (195, 40, 45)))


class Shade(StrEnum):
    """What the colours mean."""

    SIZE = "size"
    """From the smallest to the largest, on a logarithmic scale."""
    SHARE = "share"
    """From 0, as it should be, to 1, alarming."""
    RATIO = "ratio"
    """About one thousandth, as it should be, in the middle; ten thousand times less or more at the ends."""


@dataclass(frozen=True, slots=True)
class Row:
    """One layer over the steps; a value that was not seen is none."""

    name: str
    values: Sequence[float | None]


def heat(rows: Sequence[Row], steps: Sequence[float], shade: Shade, label: str) -> str:
    """One row a layer, one column a step."""
    shown = rows[:MOST_ROWS]
    kept = _kept(len(steps))
    low, high = bounds(shown, shade)
    width = (WIDTH - LEFT - RIGHT) / max(1, len(kept))
    parts = list(_scale_bar(low, high, shade))
    for at, row in enumerate(shown):
        y = TOP + at * CELL
        parts.append(text(LEFT - 6, y + CELL - 5, shortened(row.name, LONGEST_NAME), anchor="end"))
        parts += _cells(row, steps, kept, width, y, low, high, shade)
    floor = TOP + len(shown) * CELL
    parts += _step_labels([steps[at] for at in kept], width, floor)
    if len(rows) > len(shown):
        parts.append(text(LEFT - 6, floor + 14, f"and {len(rows) - len(shown)} more", anchor="end"))
    parts.append(line(LEFT, floor, WIDTH - RIGHT, floor, faint=True))
    return drawing(parts, floor + BOTTOM, label)


def bounds(rows: Sequence[Row], shade: Shade) -> tuple[float, float]:
    """The values of the first and the last colour."""
    if shade is Shade.SHARE:
        return 0.0, 1.0
    if shade is Shade.RATIO:
        return 1e-7, 1e1
    known = [value for row in rows for value in row.values if value and math.isfinite(value) and value > 0]
    if not known:
        return 1e-6, 1.0
    low, high = min(known), max(known)
    return max(low, high * 1e-12), high if high > low else low * 10


def colour(value: float, low: float, high: float, shade: Shade) -> str:
    """The colour of a finite value."""
    if shade is Shade.SHARE:
        return _blend(ALARMING, value)
    share = math.log(max(value, low) / low) / math.log(high / low)
    return _blend(BALANCED if shade is Shade.RATIO else RISING, share)


def _cells(
    row: Row,
    steps: Sequence[float],
    kept: Sequence[int],
    width: float,
    y: float,
    low: float,
    high: float,
    shade: Shade,
) -> Iterator[str]:
    for column, at in enumerate(kept):
        value = row.values[at]
        if value is None:
            continue
        finite = math.isfinite(value)
        hint = f"{row.name}, step {steps[at]:g}: {number(value)}"
        fill = colour(value, low, high, shade) if finite else NAN
        x = LEFT + column * width
        yield box(x, y, width + 0.3, CELL - 1, fill, hint)
        if not finite:
            yield line(x, y, x + width, y + CELL - 1, colour=ALARM)


def _step_labels(steps: Sequence[float], width: float, floor: float) -> Iterator[str]:
    """Steps are sampled more densely in the beginning, so a few columns are named."""
    named = sorted({round(at * (len(steps) - 1) / LABELS) for at in range(LABELS + 1)}) if steps else []
    for at in named:
        last = at == len(steps) - 1
        yield line(LEFT + (at + 0.5) * width, floor, LEFT + (at + 0.5) * width, floor + 4)
        said = f"step {steps[at]:g}" if last else f"{steps[at]:g}"
        x = WIDTH - RIGHT if last else LEFT + (at + 0.5) * width
        yield text(x, floor + 16, said, anchor="end" if last else "middle")


def _scale_bar(low: float, high: float, shade: Shade) -> Iterator[str]:
    count, width = 40, 4.0
    start = WIDTH - RIGHT - count * width - 44
    for at in range(count):
        share = at / (count - 1)
        value = share if shade is Shade.SHARE else low * (high / low) ** share
        yield box(start + at * width, 6, width + 0.3, 10, colour(value, low, high, shade))
    yield text(start - 5, 15, number(low), anchor="end")
    yield text(start + count * width + 5, 15, number(high))


def _kept(count: int) -> list[int]:
    if count <= MOST_COLUMNS:
        return list(range(count))
    return sorted({round(at * (count - 1) / (MOST_COLUMNS - 1)) for at in range(MOST_COLUMNS)})


def _blend(stops: Stops, share: float) -> str:
    inside = min(1.0, max(0.0, share))
    upper = next(at for at in range(1, len(stops)) if inside <= stops[at][0])
    (start, first), (end, second) = stops[upper - 1], stops[upper]
    part = (inside - start) / (end - start)
    mixed = (round(a + part * (b - a)) for a, b in zip(first, second, strict=True))
    return "#" + "".join(f"{value:02x}" for value in mixed)
