"""The comparison on a card, with the description of one that is not there: both ways train and
agree.
"""

from __future__ import annotations

import pytest

from benchmarks.speed.gpu import LARGE, SMALL, Size, measure_gpu
from reenact.trials.cards import Card


@pytest.mark.slow
def test_both_sizes_are_trained_in_both_ways_and_give_the_same_numbers() -> None:
    sizes = (
        Size("small", SMALL.format(steps=20), 1, 2, 0.0),
        Size("large", LARGE.format(width=16, steps=3), 1, 2, 1e9),
    )
    card = measure_gpu(workers=2, cards=[Card("0", 8 << 30)], sizes=sizes)
    assert [row[0] for row in card.tables[0].rows] == ["small", "large"]
    assert [row[-1] for row in card.tables[0].rows] == ["yes", "yes"]
    assert [goal.met for goal in card.goals] == [True, False]
