"""What the books of a training cost: pairs, goals, and trainings that must be the same."""

from __future__ import annotations

import pytest

from benchmarks.cost.books import KINDS, BookPair, Kind, Trained, books_card, measure_books
from reenact.types import Stop

SMALL = Kind("mlp", 300, 0.05)


def pair(kind: Kind, kept: float, loss: str = "loss 0.5") -> BookPair:
    return BookPair(kind, Trained(kept, loss, 0.1), Trained(10.0, "loss 0.5", 0.0))


@pytest.mark.parametrize(("kept", "met"), [(10.4, True), (10.6, False)])
def test_a_goal_is_met_by_what_books_add(kept: float, met: bool) -> None:
    kind = KINDS[0]
    card = books_card(KINDS, [pair(kind, 10.1), pair(kind, kept), pair(kind, kept)])
    assert [goal.met for goal in card.goals] == [met, None, None, None, True]
    assert card.goals[-2].reached == "no GPU here"


def test_a_training_that_books_changed_is_reported() -> None:
    card = books_card([SMALL], [pair(SMALL, 10.0), pair(SMALL, 10.0, "loss 0.6")])
    assert (card.goals[-1].reached, card.goals[-1].met) == ("1 of 2", False)


@pytest.mark.release
def test_a_training_is_the_same_with_books_and_without() -> None:
    card = measure_books(tell=lambda _: None, stop=Stop(), kinds=[SMALL], repeats=2, jobs=2)
    assert card.goals[-1].reached == "2 of 2"
    assert card.goals[0].met is not None
