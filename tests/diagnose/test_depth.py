"""What a depth may cost, and budgets as a user writes them."""

from __future__ import annotations

import pytest

from reenact.diagnose.depth import SPENDING, Depth, spending
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
