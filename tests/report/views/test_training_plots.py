"""How the full runs trained, drawn: a line a seed, a colour a method, the paper's number across."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from reenact.paper.measure.curves import Curve
from reenact.paper.measure.gap import Comparison, Grade
from reenact.paper.measure.runs import FullRun
from reenact.paper.review.claims import PaperClaim
from reenact.report.views.paper_parts import MOST_PLOTS, training_plots


def run(seed: int, *curves: Curve, **metrics: float) -> FullRun:
    return FullRun(seed, True, metrics, "", 1.0, 1.0, 1.0, "", curves=curves)


def curve(metric: str, *values: float | None, label: str = "") -> Curve:
    return Curve(metric, label, "epoch", tuple(range(1, len(values) + 1)), values)


def claimed(metric: str, measured: float, value: float, unit: str = "%") -> Comparison:
    claim = PaperClaim(
        id="C1",
        metric="accuracy",
        value=value,
        unit=unit,
        higher_is_better=True,
        method="ours",
        dataset="digits",
        setting="",
        spread=None,
        place="1:1.2",
        quote="x",
    )
    return Comparison(claim, metric, measured, None, 2, 0.0, Grade.A)


def test_of_many_curves_the_first_are_put_into_words() -> None:
    runs = [run(0, *(curve("loss", 3, 1, label=f"task {number}") for number in range(40)))]
    (one,), _ = training_plots(runs, [])
    assert one.alt.splitlines()[-2:] == [
        "task 7: 3 to 1 at epoch 2, seed 0.",
        "And 32 more.",
    ]


def test_trainings_of_one_method_within_a_run_are_one_entry_of_the_legend() -> None:
    trainings = [
        curve("loss", 3, 1, label=method if number == 1 else f"{method} ({number})")
        for method in ("ours", "base")
        for number in range(1, 21)
    ]
    (one,), _ = training_plots([run(0, *trainings)], [])
    assert one.alt.splitlines() == [
        "ours: 3 to 1 at epoch 2, 20 trainings.",
        "base: 3 to 1 at epoch 2, 20 trainings.",
    ]
    drawn = list(ElementTree.fromstring(one.svg).iter())
    lines = [node.get("stroke") for node in drawn if node.get("stroke-linejoin")]
    assert (len(lines), len(set(lines))) == (40, 2)
    assert [node.text for node in drawn if node.text in ("ours", "base")] == ["ours", "base"]
    assert not [node for node in drawn if "(2)" in (node.text or "") and node.tag.endswith("text")]


def test_a_line_a_seed_and_a_colour_a_method() -> None:
    runs = [
        run(
            seed,
            curve("loss", 3, 1 + seed, label="ours"),
            curve("loss", 4, 2, label="base"),
        )
        for seed in (0, 1)
    ]
    (one,), left = training_plots(runs, [])
    assert left == ""
    assert one.title == "Loss"
    assert ">epoch</text>" in one.svg
    assert one.alt.splitlines() == [
        "ours: 3 to 1.5 at epoch 2, 2 seeds.",
        "base: 4 to 2 at epoch 2, 2 seeds.",
    ]
    svg = one.svg
    strokes = [
        node.get("stroke") for node in ElementTree.fromstring(svg) if node.get("stroke-linejoin")
    ]
    assert len(strokes) == 4
    assert len(set(strokes)) == 2
    assert [node.text for node in ElementTree.fromstring(svg) if node.text in ("ours", "base")] == [
        "ours",
        "base",
    ]


@pytest.mark.parametrize(
    ("in_file", "in_curve", "level"),
    [
        (91.0, (50.0, 91.0), 93.6),
        (0.91, (0.5, 0.91), 0.936),
        (91.0, (0.5, 0.91), 0.936),
        (0.91, (50.0, 91.0), 93.6),
    ],
)
def test_the_papers_number_is_drawn_in_the_unit_of_the_curves(
    in_file: float, in_curve: tuple[float, ...], level: float
) -> None:
    runs = [
        run(
            0,
            curve("test_accuracy", *in_curve, label="ours"),
            test_accuracy_ours=in_file,
        )
    ]
    (one,), _ = training_plots(runs, [claimed("test_accuracy_ours", 91.0, 93.6)])
    # Where two values stand, and so where the level must: its dashed line across the plot.
    points = re.search(r'd="M[\d.]+ ([\d.]+)L[\d.]+ ([\d.]+)" fill="none"', one.svg)
    across = re.search(
        r'd="M[\d.]+ ([\d.]+)L[\d.]+ \1" stroke="#\w+" stroke-dasharray="6 3"', one.svg
    )
    assert points is not None
    assert across is not None
    first, last = float(points[1]), float(points[2])
    wanted = first + (level - in_curve[0]) / (in_curve[1] - in_curve[0]) * (last - first)
    assert float(across[1]) == pytest.approx(wanted, abs=0.2)
    assert "The paper's number for ours: C1, 93.6%." in one.alt
    assert ">C1, 93.6%</text>" in one.svg


def test_the_number_of_another_metric_is_not_drawn() -> None:
    curves = (
        curve("loss", 2, 1),
        curve("val_accuracy", 0.1, 0.9),
        curve("test_accuracy", 1, 2, label="base"),
    )
    runs = [run(0, *curves, test_accuracy_ours=0.9, test_accuracy=0.9)]
    plots, _ = training_plots(
        runs,
        [claimed("test_accuracy_ours", 90.0, 93.6), claimed("test_accuracy", 90, 93)],
    )
    assert len(plots) == 3
    assert all("stroke-dasharray" not in one.svg for one in plots)


def test_the_loss_comes_first_then_claims_and_what_does_not_fit_is_reported() -> None:
    names = ["m1", "m2", "m3", "m4", "m5", "test_accuracy", "m6", "loss"]
    runs = [run(0, *(curve(name, 1, 2) for name in names), test_accuracy=2.0)]
    plots, left = training_plots(runs, [claimed("test_accuracy", 2.0, 3.0, "")])
    assert [one.title for one in plots] == [
        "Loss",
        "Test accuracy",
        "M1",
        "M2",
        "M3",
        "M4",
    ]
    assert len(plots) == MOST_PLOTS
    assert left == "The runs logged 2 more values, which are not drawn."


def test_a_training_that_diverged_is_drawn_and_described() -> None:
    (one,), _ = training_plots([run(3, curve("loss", 2.0, None, None))], [])
    assert one.alt == "seed 3: 2 to 2 at epoch 3, of which 1 with values that are not numbers."
    assert "not a number, or infinite" in one.svg


def test_runs_that_logged_nothing_have_no_plot() -> None:
    assert training_plots([run(0, accuracy=0.9)], [claimed("accuracy", 90, 91)]) == (
        [],
        "",
    )
