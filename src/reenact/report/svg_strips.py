"""Samples side by side: every seed a dot, the median a bar, failures counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from reenact.report.svg import ALARM, COLOURS, WIDTH, dot, drawing, line, number, scale_for, shortened, text

LEFT, RIGHT, TOP, BOTTOM = 150.0, 90.0, 8.0, 34.0
BAND = 34.0


@dataclass(frozen=True, slots=True)
class Strip:
    """One sample. A value that is not finite is a failure."""

    name: str
    values: Sequence[float]


def strips(samples: Sequence[Strip], label: str, *, below: str) -> str:
    """One band a sample, all on one axis."""
    x = scale_for((value for one in samples for value in one.values), LEFT, WIDTH - RIGHT)
    floor = TOP + BAND * len(samples)
    parts = [line(LEFT, floor, WIDTH - RIGHT, floor), text(WIDTH - RIGHT, floor + 30, below, anchor="end")]
    for tick in x.ticks(6):
        parts += [line(x(tick), TOP, x(tick), floor, faint=True)]
        parts += [text(x(tick), floor + 15, number(tick), anchor="middle")]
    for at, one in enumerate(samples):
        middle = TOP + BAND * (at + 0.5)
        colour = COLOURS[at % len(COLOURS)]
        parts.append(text(LEFT - 8, middle + 4, shortened(one.name, 24), anchor="end"))
        known = [value for value in one.values if math.isfinite(value)]
        # Dots that would cover one another step up and down by turns.
        parts += [
            dot(x(value), middle + (-5, 0, 5)[nth % 3], colour, 3.5)
            for nth, value in enumerate(sorted(known))
        ]
        if known:
            centre = x(median(known))
            parts.append(line(centre, middle - 12, centre, middle + 12, colour=colour))
        if len(known) < len(one.values):
            failed = f"{len(one.values) - len(known)} failed"
            parts.append(text(WIDTH - RIGHT + 8, middle + 4, failed, colour=ALARM))
    return drawing(parts, floor + BOTTOM, label)
