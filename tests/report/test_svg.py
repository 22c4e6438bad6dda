"""Drawings: well-formed, escaped, on the right scale, and honest about what is no number."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest

from reenact.report.charts import (
    Shade,
    before_after_plot,
    bounds,
    heat_plot,
    shade_colour,
)
from reenact.report.line_plot import MOST_POINTS, Curve, Mark, line_plot, thinned
from reenact.report.svg import Scale, number, scale_for
from reenact.report.trials_plot import (
    ENOUGH,
    MOST_AXES,
    MOST_LINES,
    TrialLine,
    importance_plot,
    importances,
    trials_plot,
)

HOSTILE = '</svg><script>alert(1)</script>"\x1b[31m'


def texts(svg: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(svg).iter() if node.tag == "text"]


def count(svg: str, tag: str) -> int:
    return sum(node.tag == tag for node in ElementTree.fromstring(svg).iter())


@pytest.mark.parametrize(
    "svg",
    [
        line_plot(
            HOSTILE,
            [Curve(HOSTILE, [0, 1, 2], [1.0, 2.0, 3.0])],
            marks=[Mark(1, HOSTILE)],
            below=HOSTILE,
        ).svg,
        heat_plot(HOSTILE, [(HOSTILE, [0.1, 0.2])], [0, 1], Shade.SHARE).svg,
        before_after_plot(HOSTILE, [0.1, 0.2], [0.3, 0.4], HOSTILE).svg,
    ],
    ids=["lines", "heat", "before-after"],
)
def test_words_from_outside_stay_words(svg: str) -> None:
    tags = {node.tag for node in ElementTree.fromstring(svg).iter()}
    assert tags <= {"svg", "path", "text", "circle", "rect", "title"}
    assert "\x1b" not in svg


@pytest.mark.parametrize(
    "svg",
    [
        line_plot("nothing", []).svg,
        line_plot("one point", [Curve("one", [5], [1.0])]).svg,
        line_plot("flat", [Curve("same", [0, 1], [2.0, 2.0])]).svg,
        line_plot("no number at all", [Curve("bad", [0, 1], [math.nan, math.inf])]).svg,
        heat_plot("nothing", [], [], Shade.SIZE).svg,
        heat_plot("zeros", [("a", [None, 0.0, math.nan])], [0, 1, 2], Shade.SIZE).svg,
        before_after_plot("all failed", [-math.inf], [-math.inf], "loss").svg,
    ],
)
def test_little_or_broken_data_is_drawn_all_the_same(svg: str) -> None:
    assert ElementTree.fromstring(svg).tag == "svg"
    assert "nan" not in svg.replace("not a number", "")


def test_values_that_span_decades_are_drawn_logarithmically() -> None:
    wide = line_plot("loss", [Curve("loss", [0, 1, 2], [1e-3, 1.0, 1e4])]).svg
    narrow = line_plot("loss", [Curve("loss", [0, 1, 2], [1.0, 2.0, 3.0])]).svg
    forced = line_plot("a", [Curve("accuracy", [0, 1, 2], [1e-3, 0.5, 0.9])], between=(0, 1)).svg
    assert "logarithmic" in texts(wide)
    assert "logarithmic" not in texts(narrow)
    assert "logarithmic" not in texts(forced)
    assert {"0", "1"} <= set(texts(forced)), "the whole range of a share is shown"


def test_a_mark_names_what_fired_and_a_bad_value_is_a_dot() -> None:
    curve = Curve("loss", range(50), [1.0] * 30 + [math.inf] * 20)
    drawn = line_plot("loss", [curve], marks=[Mark(30, "DL006")]).svg
    assert "DL006" in texts(drawn)
    assert "not a number, or infinite" in texts(drawn)
    assert count(drawn, "circle") == 21


def test_long_curves_are_thinned_and_keep_their_bad_value() -> None:
    values = [1.0] * 10_000
    values[777] = math.nan
    thin = thinned(Curve("loss", range(10_000), values))
    assert len(thin.steps) == len(thin.values) == MOST_POINTS
    assert sum(math.isnan(value) for value in thin.values) == 1


def test_scales_hold_all_values_and_have_round_ticks() -> None:
    scale = scale_for([0.0, 37.0], 100, 0)
    assert 0 <= scale(37.0) < scale(0.0) <= 100
    assert scale.ticks() == (0, 10, 20, 30)
    decades = scale_for([1e-3, 1e3], 0, 10)
    assert decades.logarithmic
    assert decades(1.0) == pytest.approx(5)
    assert decades.ticks(10) == pytest.approx([1e-3, 1e-2, 1e-1, 1, 10, 100, 1000])
    assert Scale(2.0, 2.0, 0, 10)(2.0) == 5


def test_heat_has_a_cell_for_each_value_and_alarm_grows() -> None:
    rows = [("fc1", [0.0, None, 1.0]), ("fc2", [0.5, 0.5, math.nan])]
    drawn = heat_plot("x", rows, [0, 5, 9], Shade.SHARE).svg
    bare = heat_plot("x", [], [], Shade.SHARE).svg
    assert count(drawn, "rect") - count(bare, "rect") == 5
    assert {"fc1", "fc2", "step", "0", "10"} <= set(texts(drawn))
    red = [int(shade_colour(share, 0, 1, Shade.SHARE)[3:5], 16) for share in (0.0, 0.5, 1.0)]
    assert red == sorted(red, reverse=True)
    assert bounds([("a", [1e-9, 0.0, 10.0])], Shade.SIZE) == (1e-9, 10.0)


def test_before_and_after_show_each_seed_and_count_failures() -> None:
    drawn = before_after_plot("x", [0.1, 0.2, -math.inf], [0.9, 0.8, 0.7], "accuracy").svg
    assert count(drawn, "circle") == 5
    assert "1 failed" in texts(drawn)


def test_numbers_are_short() -> None:
    assert [number(value) for value in (0, 0.5, 1234.5, 3e7, 1.5e-5, math.inf, math.nan)] == [
        "0",
        "0.5",
        "1234",
        "3e7",
        "1.5e-5",
        "inf",
        "not a number",
    ]


def test_a_long_legend_takes_further_rows() -> None:
    curves = [
        Curve(
            f"a method with a long name {at}",
            [0, 1],
            [1.0, 2.0],
            group=f"method {at} " * 3,
        )
        for at in range(6)
    ]
    svg = ElementTree.fromstring(line_plot("many", curves).svg)
    names = [node for node in svg if (node.text or "").startswith("method")]
    assert max(float(node.get("x", 0)) + 6 * len(node.text or "") for node in names) <= 720
    assert len({node.get("y") for node in names}) > 1


def test_trials_are_lines_over_an_axis_for_each_hyperparameter() -> None:
    lines = [
        TrialLine({"learning-rate": 0.1}, 0.5),
        TrialLine({"learning-rate": 0.001, "0 activation": HOSTILE}, 0.9),
        TrialLine({"0 activation": "relu"}, -math.inf),
    ]
    picture = trials_plot("Trials", lines, "accuracy")
    assert count(picture.svg, "path") == 3 + 3, "two axes and the score, and a line a trial"
    shown = texts(picture.svg)
    assert {
        "learning-rate",
        "0 activation",
        "relu",
        "accuracy",
        "as is",
        "failed",
    } <= set(shown)
    assert "<script>" not in picture.svg
    assert picture.alt.splitlines()[0].startswith("accuracy 0.9: learning-rate 0.001, 0 activation")
    assert picture.alt.splitlines()[-1] == "accuracy failed: 0 activation relu"


def test_a_metric_that_should_fall_keeps_its_own_numbers() -> None:
    lines = [TrialLine({"epochs": 3.0}, -2.0), TrialLine({"epochs": 9.0}, -1.0)]
    picture = trials_plot("Trials", lines, "loss", -1)
    assert picture.alt.splitlines() == ["loss 1: epochs 9", "loss 2: epochs 3"]
    assert not any(label.startswith("-") for label in texts(picture.svg))


def test_of_many_trials_and_hyperparameters_those_that_matter_are_drawn() -> None:
    lines = [TrialLine({f"h{at % 20}": float(at), "often": 1.0}, float(at)) for at in range(500)]
    picture = trials_plot("Trials", lines, "accuracy")
    assert count(picture.svg, "path") == MOST_AXES + 1 + MOST_LINES
    assert texts(picture.svg).count("often") == 1


def test_the_hyperparameter_that_decides_is_the_most_important() -> None:
    scores = (0.1, 0.8, 0.5, 0.12, 0.9, 0.55, 0.11, 0.85, 0.5, 0.09, 0.88, -math.inf)
    lines = [
        TrialLine(
            {
                "learning-rate": float(at % 3),
                "width": float(at * 7 % 13),
                "batch-size": None,
            },
            score,
        )
        for at, score in enumerate(scores)
    ]
    shares = importances(lines)
    assert shares["learning-rate"] > 0.6 > 0.3 > shares["width"] >= 0
    assert "batch-size" not in shares, "what never changed decides nothing"
    picture = importance_plot("Importance", lines)
    assert picture is not None
    assert picture.alt.splitlines()[0].startswith("learning-rate")
    assert importance_plot("Importance", lines[: ENOUGH - 1]) is None, "too few to tell"
    assert importance_plot("Importance", []) is None
    assert importance_plot("Importance", [TrialLine({"width": 1.0}, 0.5)] * 12) is None


def test_cells_of_heat_are_as_wide_as_the_steps_between_them() -> None:
    drawn = heat_plot("x", [("fc1", [0.1, 0.2, 0.3])], [0, 10, 110], Shade.SHARE).svg
    cells = [one for one in drawn.split("<rect ")[1:] if "fc1, step" in one]
    widths = [float(re.search(r'width="([\d.]+)"', one)[1]) for one in cells]  # type: ignore[index]
    assert widths[1] == pytest.approx(10 * widths[0], rel=0.05)
    assert "100" in texts(drawn)
