"""What a depth may cost, and budgets as a user writes them."""

from __future__ import annotations

import pytest

from reenact.diagnosis.depth import SPENDING, Depth, spending
from reenact.errors import InputError


def test_the_usual_budget_is_that_of_the_depth() -> None:
    assert spending(Depth.NORMAL, None) is SPENDING[Depth.NORMAL]
    assert spending(Depth.DEEP, "").trainings > spending(Depth.NORMAL, "").trainings
    assert min(one.seeds for one in SPENDING.values()) >= 6


@pytest.mark.parametrize(
    ("text", "trainings", "seconds"), [("40", 40, None), ("90s", float("inf"), 90), ("2m", float("inf"), 120)]
)
def test_trainings_or_time(text: str, trainings: float, seconds: float | None) -> None:
    found = spending(Depth.NORMAL, text)
    assert (found.trainings, found.seconds) == (trainings, seconds)


@pytest.mark.parametrize("text", ["0", "-3", "soon", "m"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="budget"):
        spending(Depth.NORMAL, text)


def test_short_trainings_are_tried_more_often_and_long_ones_are_not() -> None:
    usual = SPENDING[Depth.NORMAL]
    assert usual.for_trainings_of(5.0) is usual
    short = usual.for_trainings_of(0.5)
    assert short.trainings * 0.5 == pytest.approx(90)
    assert (short.screening_seeds, short.screened) == (3, 2 * usual.screened)
    asked = spending(Depth.NORMAL, "30s")
    assert asked.for_trainings_of(0.5) is asked
