"""The pictures of a diagnosis: curves with the moments of the findings, and layers against steps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from reenact.cli.watch_view import sparkline
from reenact.diagnosis.diagnosis import Diagnosis
from reenact.probe.columns import Series
from reenact.report.plots import HeatPlot, LinePlot
from reenact.report.sheet import Picture
from reenact.report.svg import number
from reenact.report.svg_lines import Curve, Mark
from reenact.report.trace_plots import curve_plots, layer_plots, line_plot, marks_at
from reenact.rules.finding import Finding

NAMED_LAYERS = 8


def curves(found: Diagnosis) -> Iterator[Picture]:
    """Loss and metrics over the steps, with the moment at which each finding fired."""
    suspects = [*(one.suspect for one in found.accusations), *found.symptoms]
    marks = at_steps([finding for suspect in suspects for finding in suspect.witnesses])
    yield from map(_lines, curve_plots(found.evidence, marks))


def heat_maps(found: Diagnosis) -> Iterator[Picture]:
    """Gradient size, size of the updates, and units that are dead or saturated, layer by layer."""
    yield from map(_heat, layer_plots(found.evidence))


def chart(
    title: str,
    named: Sequence[tuple[str, Series]],
    marks: Sequence[Mark],
    *,
    between: tuple[float, float] | None = None,
) -> Iterator[Picture]:
    """A picture of these series; none when there is nothing to draw."""
    yield from map(_lines, line_plot(title, named, marks, between=between))


def at_steps(findings: Sequence[Finding]) -> list[Mark]:
    """One mark a step, with the codes of all that fired there."""
    return marks_at((finding.code, finding.step) for finding in findings)


def _lines(plot: LinePlot) -> Picture:
    told = [f"{one.name:22} {sparkline(list(one.values))}  {_ends(one)}" for one in plot.curves]
    if plot.marks:
        told.append("noticed  " + ", ".join(f"{mark.label} at step {mark.step:g}" for mark in plot.marks))
    return Picture(plot.title, plot.draw(f"{plot.title}: {_ends(plot.curves[0])}"), "\n".join(told))


def _heat(plot: HeatPlot) -> Picture:
    alt = f"median by layer: {', '.join(_medians(plot))}"
    return Picture(plot.title, plot.draw(f"{plot.title}; {alt}"), alt)


def _medians(plot: HeatPlot) -> Iterator[str]:
    for row in plot.rows[:NAMED_LAYERS]:
        values = [value for value in row.values if value is not None and math.isfinite(value)]
        yield f"{row.name} {number(median(values)) if values else 'not a number'}"
    if len(plot.rows) > NAMED_LAYERS:
        yield f"and {len(plot.rows) - NAMED_LAYERS} more"


def _ends(one: Curve) -> str:
    return f"{number(one.values[0])} -> {number(one.values[-1])}"
