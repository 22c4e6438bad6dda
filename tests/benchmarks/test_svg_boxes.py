"""Box plots: what is drawn where."""

from __future__ import annotations

import math
import re

from benchmarks.svg_boxes import boxes, standalone
from reenact.report.svg import WIDTH


def test_a_box_says_its_quartiles_and_leaves_out_what_is_no_number() -> None:
    drawn = boxes(
        [("budget 10", {"guided": [0.0, 1.0, 2.0, 3.0, 4.0, math.nan]})],
        "rates",
        below="rate",
    )
    assert "median 2, quartiles 1 to 3, 5 values" in drawn
    assert drawn.count("<circle") == 1 + 5


def test_values_beyond_the_bounds_are_drawn_at_the_ends() -> None:
    drawn = boxes([("one", {"a": [-50.0, 0.5, 90.0]})], "rates", below="rate", bounds=(0.0, 1.0))
    places = [float(x) for x in re.findall(r'cx="([\d.]+)" cy="[\d.]+" r="1.8"', drawn)]
    assert min(places) == 110.0
    assert max(places) == 696.0


def test_a_legend_of_many_names_stays_within_the_drawing_and_above_the_bands() -> None:
    names = [f"strategy {nth}, many truths" for nth in range(12)]
    drawn = boxes(
        [("one", {name: [0.5] for name in names})],
        "l",
        below="b",
        marks={"one": 1.0},
        marked="known",
    )
    places = {
        name: (float(x), float(y))
        for x, y, name in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]+)', drawn)
    }
    assert all(places[name][0] + 6.2 * len(name) <= WIDTH for name in [*names, "known"])
    first = min(float(y) for y in re.findall(r'cy="([\d.]+)" r="1.8"', drawn))
    assert max(places[name][1] for name in [*names, "known"]) < first
    assert len({places[name] for name in names}) == len(names)


def test_names_cannot_become_markup() -> None:
    drawn = boxes(
        [("<b>", {"<i>": [1.0]})],
        "l",
        below="b",
        marks={"<b>": 2.0},
        marked="known",
        goal=1.0,
    )
    assert "<b>" not in drawn
    assert "<i>" not in drawn


def test_alone_it_names_its_language() -> None:
    drawn = standalone(boxes([("one", {"a": []})], "nothing", below="x"))
    assert drawn.startswith('<svg xmlns="http://www.w3.org/2000/svg"')
