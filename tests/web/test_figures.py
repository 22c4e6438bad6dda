"""Plots for the plotting library: JSON without NaN, scales as in the drawings, words that are no markup."""

from __future__ import annotations

import json
import math

import pytest

from reenact.report.plots import GraphPlot, HeatPlot, LinePlot, Plot, StripPlot
from reenact.report.svg_graph import Dot
from reenact.report.svg_heat import Row, Shade
from reenact.report.svg_lines import Curve, Level, Mark, apart
from reenact.report.svg_strips import Strip
from reenact.web.figures import MOST_COLUMNS, MOST_POINTS, figure

NAN, INF = math.nan, math.inf
PLOTS: list[Plot] = [
    LinePlot("Loss", [Curve("loss", [0, 1, 2, 3], [2.0, NAN, INF, 1.0])], [Mark(1, "UM005")]),
    LinePlot("Rates", [Curve("loss", [1e-4, 1e-2], [2.0, 900.0])], [Mark(0, "never")], log_x=True),
    HeatPlot(
        "Gradient", [Row("dense", [1.0, None, NAN]), Row("out", [0.0, 1e-9, INF])], [0, 1, 5], Shade.SIZE
    ),
    HeatPlot("Dead", [Row("dense", [0.0, 1.0])], [0, 1], Shade.SHARE),
    HeatPlot("Updates", [Row("dense", [1e-3, 0.0])], [0, 1], Shade.RATIO),
    StripPlot("Seeds", [Strip("before", [0.1, NAN]), Strip("after", [0.9, 0.8])], "accuracy"),
    GraphPlot(
        "Graph", [Dot(-1, 0, "#111", "root"), Dot(0, 1, "currentColor", "one")], {"#111": "as it stands"}
    ),
]


@pytest.mark.parametrize("plot", PLOTS, ids=lambda plot: plot.title)
def test_every_plot_is_strict_json(plot: Plot) -> None:
    made = json.loads(json.dumps(figure(plot), allow_nan=False))
    assert made["data"]
    assert made["layout"]["height"] > 0


def test_steps_are_counted_from_the_first_whatever_was_measured() -> None:
    late = LinePlot("Accuracy", [Curve("accuracy", [160], [0.9])], [Mark(6, "DD002")])
    assert figure(late)["layout"]["xaxis"]["rangemode"] == "tozero"


def test_a_moment_is_marked_and_what_is_no_number_is_said() -> None:
    layout = figure(PLOTS[0])["layout"]
    assert [one["text"] for one in layout["annotations"]] == ["UM005", "not a number from here"]
    assert [one["x0"] for one in layout["shapes"]] == [1.0, 1]


def test_values_over_decades_are_drawn_on_a_logarithmic_scale() -> None:
    wide = LinePlot("Loss", [Curve("loss", [0, 1], [1e-3, 10.0])])
    assert figure(wide)["layout"]["yaxis"]["type"] == "log"
    assert (
        figure(LinePlot("Loss", [Curve("loss", [0, 1], [1.0, 2.0])]))["layout"]["yaxis"]["type"] == "linear"
    )


def test_names_from_a_program_are_not_read_as_markup() -> None:
    plot = HeatPlot("Dead", [Row("<a href=x>layer</a>", [0.5])], [0], Shade.SHARE)
    assert figure(plot)["data"][0]["y"] == ["&lt;a href=x&gt;layer&lt;/a&gt;"]
    curve = LinePlot("x", [Curve("<b>loss</b>", [0], [1.0])], [Mark(0, "<i>")])
    assert "<" not in json.dumps(figure(curve))


def test_a_long_training_is_thinned() -> None:
    count = 50_000
    curve = LinePlot("Loss", [Curve("loss", range(count), [1.0] * count)])
    assert len(figure(curve)["data"][0]["x"]) <= MOST_POINTS
    heat = HeatPlot("Dead", [Row("a", [0.5] * count)], range(count), Shade.SHARE)
    assert len(figure(heat)["data"][0]["z"][0]) <= MOST_COLUMNS


def test_a_group_is_one_in_the_legend_and_its_level_has_its_colour() -> None:
    curves = [
        Curve(f"{name}, seed {seed}", [1, 2], [1.0, 2.0], group=name) for name in "ab" for seed in (0, 1)
    ]
    made = figure(LinePlot("Loss", curves, levels=[Level(1.5, "C1, 1.5", "b"), Level(1.51, "C2, 1.51", "b")]))
    assert [one["showlegend"] for one in made["data"]] == [True, False, True, False]
    assert [one["name"] for one in made["data"]] == ["a", "a", "b", "b"]
    colours = [one["line"]["color"] for one in made["data"]]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert [one["line"]["color"] for one in made["layout"]["shapes"]] == [colours[2]] * 2
    first, second = made["layout"]["annotations"]
    assert (first["y"], second["y"]) == (1.5, 1.51)
    assert first["yshift"] != second["yshift"], "labels of neighbours do not hide one another"
    assert made["layout"]["margin"]["r"] > 40


def test_labels_are_pushed_apart_and_stay_inside() -> None:
    assert apart([10, 50, 90], 12, 100) == [10, 50, 90]
    assert apart([50, 51, 52], 12, 100) == [50, 62, 74]
    assert apart([99, 98, 97], 12, 100) == [100, 88, 76]
    assert apart([], 12, 100) == []
