"""Plots before anyone decides how they look: drawn as SVG here, handed to a plotting library by the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from reenact.report.svg_graph import Dot, graph
from reenact.report.svg_heat import Row, Shade, heat
from reenact.report.svg_lines import Curve, Level, Mark, lines
from reenact.report.svg_strips import Strip, strips


@dataclass(frozen=True, slots=True)
class LinePlot:
    """Curves on one pair of axes."""

    title: str
    curves: Sequence[Curve]
    marks: Sequence[Mark] = ()
    below: str = "step"
    log_x: bool = False
    between: tuple[float, float] | None = None
    """Fixed ends of the height."""
    levels: Sequence[Level] = ()
    """Heights to compare the curves with."""

    def draw(self, label: str) -> str:
        return lines(
            self.curves, label, marks=self.marks, levels=self.levels, below=self.below, log_x=self.log_x,
            between=self.between,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class HeatPlot:
    """Layers against steps."""

    title: str
    rows: Sequence[Row]
    steps: Sequence[int]
    shade: Shade

    def draw(self, label: str) -> str:
        return heat(self.rows, self.steps, self.shade, label)


@dataclass(frozen=True, slots=True)
class StripPlot:
    """Samples side by side, a dot a seed."""

    title: str
    samples: Sequence[Strip]
    below: str

    def draw(self, label: str) -> str:
        return strips(self.samples, label, below=self.below)


@dataclass(frozen=True, slots=True)
class GraphPlot:
    """Nodes that hang on one another."""

    title: str
    dots: Sequence[Dot]
    key: Mapping[str, str] = field(default_factory=dict)
    """Colour to meaning."""
    below: str = ""
    """What a step to the right is."""

    def draw(self, label: str) -> str:
        return graph(self.dots, label, self.key)


Plot = LinePlot | HeatPlot | StripPlot | GraphPlot
