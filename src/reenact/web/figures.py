"""Plots as the plotting library takes them: data and layout, no colours of the page, which come later."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import singledispatch
from typing import Any, TypeAlias

from reenact.report.plots import GraphPlot, HeatPlot, LinePlot, StripPlot
from reenact.report.svg import ALARM, COLOURS, Scale, number, scale_for
from reenact.report.svg_graph import Dot
from reenact.report.svg_heat import ALARMING, BALANCED, RISING, Shade, bounds
from reenact.report.svg_lines import FEW, THIN, Curve, Level, apart, colours_of

Figure: TypeAlias = Mapping[str, Any]
STOPS = {Shade.SIZE: RISING, Shade.RATIO: BALANCED, Shade.SHARE: ALARMING}
MOST_POINTS = 2000
MOST_COLUMNS = 400
GREY = "#8f8f8f"
LINES, DRAWN, LABEL = 280, 208, 13
"""Heights: of a plot of lines, of what is drawn of it, of a label beside it."""
ROW, HEAD, LEAST = 22, 90, 200
"""Heights: of a row, of what stands above and below, of the smallest plot."""


@singledispatch
def figure(plot: object) -> Figure:
    """Data and layout."""
    raise TypeError(f"{type(plot).__name__} is no plot")


@figure.register
def _lines(plot: LinePlot) -> Figure:
    heights = [value for one in plot.curves for value in one.values]
    heights += [level.value for level in plot.levels]
    steps = [step for one in plot.curves for step in one.steps]
    scale = scale_for(heights, DRAWN, 0)
    logarithmic = scale.logarithmic and plot.between is None
    yaxis: dict[str, Any] = {"type": "log" if logarithmic else "linear"}
    if plot.between is not None:
        yaxis["range"] = [plot.between[0] - 0.02, plot.between[1] + 0.02]
    wide = plot.log_x and scale_for(steps, 0, 1, logarithmic=True).logarithmic
    # From the first step on, so that plots of the same run below one another count alike.
    xaxis = {"title": {"text": plot.below}, "type": "log" if wide else "linear", "rangemode": "tozero"}
    place = math.log10 if wide else float
    known = [mark for mark in plot.marks if not wide or mark.step > 0]
    colours = colours_of(plot.curves)
    first = {one.group or one.name: at for at, one in reversed(list(enumerate(plot.curves)))}
    data = [
        {**_curve(one, colours[one.group or one.name], logarithmic), "showlegend": at in first.values()}
        for at, one in enumerate(plot.curves)
    ]
    bad = sorted({step for one in plot.curves for step in _bad(one)})
    shapes = [_upright(place(mark.step), "dash") for mark in known]
    shapes += [_upright(step, "dot") for step in bad[:1]]
    notes = [_label(place(mark.step), mark.label, at) for at, mark in enumerate(known)]
    if bad:
        notes.append(_label(bad[0], "not a number from here", len(notes)))
    shapes += [_flat(level, colours) for level in plot.levels]
    notes += _beside(plot, colours, scale)
    layout = _layout(LINES, xaxis, yaxis, shapes=shapes, annotations=notes)
    longest = max((len(level.label) for level in plot.levels), default=0)
    layout["margin"] = {**layout["margin"], "r": layout["margin"]["r"] + 6.5 * longest}
    # A legend of several rows grows upwards, away from the curves.
    layout["legend"] = {**layout["legend"], "y": 1.02, "yanchor": "bottom"}
    return {"data": data, "layout": layout}


def _curve(one: Curve, colour: str, logarithmic: bool) -> Figure:
    keep = range(0, len(one.steps), max(1, math.ceil(len(one.steps) / MOST_POINTS)))
    values = [one.values[place] for place in keep]
    shown = [value if math.isfinite(value) and (value > 0 or not logarithmic) else None for value in values]
    grouped = {"legendgroup": _literal(one.group), "text": _literal(one.name)} if one.group else {}
    return {
        "type": "scatter",
        "mode": "lines+markers" if len(one.steps) <= FEW and not one.group else "lines",
        "name": _literal(one.group or one.name),
        **grouped,
        "x": [one.steps[place] for place in keep],
        "y": shown,
        "line": {"color": colour, "width": THIN if one.group else 1.8},
        "marker": {"size": 5},
    }


def _flat(level: Level, colours: Mapping[str, str]) -> Figure:
    line = {"color": colours.get(level.group, GREY), "width": 1, "dash": "dash"}
    return {
        "type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": level.value, "y1": level.value, "line": line,
    }  # fmt: skip


def _beside(plot: LinePlot, colours: Mapping[str, str], scale: Scale) -> Iterator[Figure]:
    """Labels of the levels to the right of the plot, pushed apart where they would hide one another."""
    places = [scale(level.value) for level in plot.levels]
    for level, at, moved in zip(plot.levels, places, apart(places, LABEL, DRAWN), strict=True):
        yield {
            "x": 1, "xref": "paper", "xanchor": "left", "xshift": 4, "yanchor": "middle",
            "yshift": at - moved,
            "y": math.log10(level.value) if scale.logarithmic and level.value > 0 else level.value,
            "text": _literal(level.label), "showarrow": False,
            "font": {"color": colours.get(level.group, GREY), "size": 11},
        }  # fmt: skip


def _bad(one: Curve) -> list[float]:
    return [step for step, value in zip(one.steps, one.values, strict=True) if not math.isfinite(value)]


def _upright(step: float, dash: str) -> Figure:
    line = {"color": ALARM, "width": 1, "dash": dash}
    return {"type": "line", "x0": step, "x1": step, "yref": "paper", "y0": 0, "y1": 1, "line": line}


def _label(step: float, said: str, at: int) -> Figure:
    return {
        "x": step,
        "y": 1 - 0.09 * (at % 4),
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "top",
        "showarrow": False,
        "text": _literal(said),
        "font": {"color": ALARM, "size": 11},
    }


@figure.register
def _heat(plot: HeatPlot) -> Figure:
    low, high = bounds(plot.rows, plot.shade)
    keep = range(0, len(plot.steps), max(1, math.ceil(len(plot.steps) / MOST_COLUMNS)))
    level = (lambda value: value) if plot.shade is Shade.SHARE else lambda value: _level(value, low)
    rows = [[row.values[at] for at in keep] for row in plot.rows]
    cells = [[level(value) if _finite(value) else None for value in row] for row in rows]
    told = [["" if value is None else number(value) for value in row] for row in rows]
    ends = (0.0, 1.0) if plot.shade is Shade.SHARE else (math.log10(low), math.log10(high))
    ticks = [ends[0] + share * (ends[1] - ends[0]) for share in (0, 0.5, 1)]
    words = [number(one if plot.shade is Shade.SHARE else 10**one) for one in ticks]
    data = {
        "type": "heatmap",
        "x": [str(plot.steps[at]) for at in keep],
        "y": [_literal(row.name) for row in plot.rows],
        "z": cells,
        "text": told,
        "hovertemplate": "%{y}, step %{x}: %{text}<extra></extra>",
        "zmin": ends[0],
        "zmax": ends[1],
        "colorscale": [[share, f"rgb{colour}"] for share, colour in STOPS[plot.shade]],
        "colorbar": {"tickvals": ticks, "ticktext": words, "thickness": 10, "outlinewidth": 0},
        "hoverongaps": False,
    }
    yaxis = {"autorange": "reversed", "automargin": True, "type": "category"}
    # Steps are sampled more densely in the beginning: a column each, as a category.
    xaxis = {"title": {"text": "step"}, "type": "category", "nticks": 12}
    height = max(LEAST, HEAD + ROW * len(plot.rows))
    return {"data": [data], "layout": _layout(height, xaxis, yaxis)}


def _finite(value: float | None) -> bool:
    return value is not None and math.isfinite(value)


def _level(value: float, low: float) -> float:
    return math.log10(max(value, low))


@figure.register
def _strips(plot: StripPlot) -> Figure:
    data = [
        {
            "type": "box",
            "name": _literal(one.name),
            "x": [value for value in one.values if math.isfinite(value)],
            "boxpoints": "all",
            "jitter": 0.5,
            "pointpos": 0,
            "fillcolor": "rgba(0,0,0,0)",
            "line": {"color": COLOURS[at % len(COLOURS)], "width": 1.5},
            "marker": {"color": COLOURS[at % len(COLOURS)], "size": 7, "opacity": 0.8},
        }
        for at, one in enumerate(plot.samples)
    ]
    yaxis = {"autorange": "reversed", "automargin": True}
    height = max(LEAST, HEAD + 55 * len(plot.samples))
    return {
        "data": data,
        "layout": _layout(height, {"title": {"text": plot.below}}, yaxis, showlegend=False),
    }


@figure.register
def _graph(plot: GraphPlot) -> Figure:
    places = _places(plot.dots)
    across: list[float | None] = []
    upward: list[float | None] = []
    for at, one in enumerate(plot.dots):
        if one.parent >= 0:
            across += [places[one.parent][0], places[at][0], None]
            upward += [places[one.parent][1], places[at][1], None]
    edges = {
        "type": "scatter",
        "mode": "lines",
        "x": across,
        "y": upward,
        "line": {"color": "rgba(128,128,128,.4)", "width": 1},
        "hoverinfo": "skip",
        "showlegend": False,
    }
    groups = [_group(plot.dots, places, colour, meaning) for colour, meaning in plot.key.items()]
    hidden = {"visible": False}
    xaxis = {"title": {"text": plot.below}, "dtick": 1} if plot.below else hidden
    widest = max(Counter(one.depth for one in plot.dots).values(), default=1)
    layout = _layout(min(640, LEAST + ROW * widest), xaxis, hidden)
    return {"data": [edges, *groups], "layout": {**layout, "dragmode": "pan"}, "zooms": True}


def _group(dots: Sequence[Dot], places: Sequence[tuple[float, float]], colour: str, meaning: str) -> Figure:
    chosen = [at for at, one in enumerate(dots) if one.colour == colour]
    return {
        "type": "scatter",
        "mode": "markers",
        "name": _literal(meaning),
        "x": [places[at][0] for at in chosen],
        "y": [places[at][1] for at in chosen],
        "text": [_literal(dots[at].words) for at in chosen],
        "hovertemplate": "%{text}<extra></extra>",
        # The page puts the colour of its text where a node takes the colour of text.
        "marker": {"color": colour, "size": [14 if dots[at].large else 10 for at in chosen]},
    }


def _places(dots: Sequence[Dot]) -> list[tuple[float, float]]:
    sizes, placed = Counter(one.depth for one in dots), Counter[int]()
    places = []
    for one in dots:
        places.append((float(one.depth), -(placed[one.depth] + 0.5) / sizes[one.depth]))
        placed[one.depth] += 1
    return places


def _layout(height: int, xaxis: Figure, yaxis: Figure, **more: Any) -> dict[str, Any]:
    return {
        "height": height,
        "margin": {"l": 60, "r": 16, "t": 28, "b": 44},
        "xaxis": xaxis,
        "yaxis": yaxis,
        "legend": {"orientation": "h", "y": 1.14, "x": 0},
        **more,
    }


def _literal(said: str) -> str:
    """Words that the library must not read as markup: it knows a few tags."""
    return said.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
