"""The speed of executors is judged by geometric means of ratios, and what is missing is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.speed.card import scorecard
from benchmarks.speed.programs import Case
from benchmarks.speed.ways import LOOP, POOL, TUNED, Rates
from reenact.types import ExitCode

CASES = [Case("a", Path("a"), keras=True), Case("b (torch)", Path("b"), keras=False)]
LOAD = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


def rates(a: float, b: float, trials: int = 32) -> Rates:
    return Rates({"a": a, "b (torch)": b}, {"a": 1 / a, "b (torch)": 1 / b}, 1.5, trials)


def found(tuned: Rates | None, quickest: Rates) -> dict[str, Rates]:
    ours = {POOL: quickest, LOOP: rates(0.5, 0.5, 4)}
    return ours | ({} if tuned is None else {TUNED: tuned})


def test_geometric_means_against_the_goals() -> None:
    quick = found(rates(0.1, 0.4), rates(10.0, 4.0))
    card = scorecard(CASES, quick, workers=2, whole=True, load=LOAD)
    assert [(goal.reached, goal.met) for goal in card.goals] == [("31.6x", True), ("20.0x", True)]
    assert "31.6x Ray Tune, 20.0x the plain loop" in card.figures
    assert card.exit_code is ExitCode.OK
    means = card.tables[1].rows[-1]
    assert means[0] == "geometric mean"
    assert means[1:] == ("12.6x", "31.6x")


@pytest.mark.parametrize(
    ("tuned", "whole", "met"),
    [
        (None, True, None),
        (rates(0.1, 0.4, trials=16), True, None),
        (rates(0.1, 0.4), False, None),
        (rates(5.0, 4.0), True, False),
    ],
)
def test_what_was_not_measured_in_full_meets_no_goal(
    tuned: Rates | None, whole: bool, met: bool | None
) -> None:
    card = scorecard(CASES, found(tuned, rates(10.0, 4.0)), workers=2, whole=whole, load=LOAD)
    assert card.goals[0].met is met
    if tuned is None:
        assert "not installed" in card.figures
        assert card.tables[0].rows[0][2] == "-"
