"""Plots: one function each, drawn as SVG by `svg*.py`, with what is to be seen in words.

The same drawing stands on the live page, in a report that is mailed, and in a notebook.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import median

from reenact.report.charts import Dot, HeatRow, Shade, Strip, graph, heat, strips
from reenact.report.document import Picture
from reenact.report.svg import number
from reenact.report.svg_lines import Curve, Level, Mark, lines

BARS = "▁▂▃▄▅▆▇█"
WIDTH = 48
NAMED_LAYERS = 8


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
    """Curves on one pair of axes; `words` instead of a line of bars for each."""
    described = [f"{one.name:22} {sparkline(list(one.values))}  {_ends(one)}" for one in curves]
    if marks:
        described.append("noticed  " + ", ".join(f"{mark.label} at {below} {mark.step:g}" for mark in marks))
    label = f"{title}: {words or _ends(curves[0])}"
    drawn = lines(curves, label, marks=marks, levels=levels, below=below, log_x=log_x, between=between)
    return Picture(title, drawn, words or "\n".join(described))


def heat_plot(title: str, rows: Sequence[HeatRow], steps: Sequence[int], shade: Shade) -> Picture:
    """Layers against steps."""
    alt = f"median by layer: {', '.join(_medians(rows))}"
    return Picture(title, heat(rows, steps, shade, f"{title}; {alt}"), alt)


def strip_plot(title: str, samples: Sequence[Strip], below: str) -> Picture:
    """Samples side by side, a dot a seed."""
    values = "; ".join(f"{one.name}: {', '.join(map(number, one.values))}" for one in samples)
    alt = f"{below} over {len(samples[0].values)} seeds. {values}"
    return Picture(title, strips(samples, alt, below=below), alt)


def before_after_plot(title: str, before: Sequence[float], after: Sequence[float], below: str) -> Picture:
    """What a change did, over the seeds."""
    return strip_plot(title, [Strip("as it stands", before), Strip("changed", after)], below)


def graph_plot(title: str, dots: Sequence[Dot], meaning: Mapping[str, str], words: str = "") -> Picture:
    """Nodes that hang on one another; `meaning` of the colours, of which the used ones are explained."""
    counts = {colour: sum(dot.colour == colour for dot in dots) for colour in meaning}
    key = {colour: text for colour, text in meaning.items() if counts[colour]}
    alt = words or ", ".join(f"{counts[colour]} {text}" for colour, text in key.items())
    return Picture(title, graph(dots, f"{title}: {alt}", key), alt)


def sparkline(values: Sequence[float], width: int = WIDTH) -> str:
    """The course of a series in one line; on a logarithmic scale where it spans decades."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return "not a number"
    low, high = min(finite), max(finite)
    logarithmic = low > 0 and high / low > 100

    def height(value: float) -> float:
        return math.log(value) if logarithmic else value

    span = height(high) - height(low)
    marks = []
    for part in _parts(values, width):
        if not math.isfinite(part):
            marks.append("!")
            continue
        share = (height(part) - height(low)) / span if span > 0 else 0.0
        marks.append(BARS[min(len(BARS) - 1, int(share * len(BARS)))])
    return "".join(marks)


def _parts(values: Sequence[float], width: int) -> Iterator[float]:
    """As many values as fit, each the last of its stretch: a spike to infinity stays visible."""
    count = min(width, len(values))
    for at in range(count):
        stretch = values[at * len(values) // count : (at + 1) * len(values) // count]
        bad = [value for value in stretch if not math.isfinite(value)]
        yield bad[0] if bad else stretch[-1]


def _medians(rows: Sequence[HeatRow]) -> Iterator[str]:
    for row in rows[:NAMED_LAYERS]:
        values = [value for value in row.values if value is not None and math.isfinite(value)]
        yield f"{row.name} {number(median(values)) if values else 'not a number'}"
    if len(rows) > NAMED_LAYERS:
        yield f"and {len(rows) - NAMED_LAYERS} more"


def _ends(one: Curve) -> str:
    return f"{number(one.values[0])} -> {number(one.values[-1])}"
