"""Of changes that help nearly as much, the smaller one."""

from __future__ import annotations

import math

import pytest

from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.strategies.guided import smallest_near
from reenact.testing.strategy import search_context, set_to
from reenact.trials.metric import Measure

SMALL = Patch((set_to(Kind.LEARNING_RATE, 0.1),))
LARGE = Patch((set_to(Kind.LEARNING_RATE, 0.1), set_to(Kind.BATCH_SIZE, 16)))


@pytest.mark.parametrize(
    ("small", "large", "base", "bounded", "first"),
    [
        (0.89, 0.90, 0.3, True, SMALL),
        (0.80, 0.90, 0.3, True, LARGE),
        (0.89, 0.90, -math.inf, True, LARGE),
        (-1.1, -1.0, -9.0, False, SMALL),
        (-3.8e8, -2.4e8, -6e21, False, LARGE),
        (-2.5e8, -2.4e8, -math.inf, False, SMALL),
    ],
)
def test_the_smaller_of_nearly_equal_gains(
    small: float, large: float, base: float, bounded: bool, first: Patch
) -> None:
    context = search_context(lambda values: 0.5).context
    context.trainer.measure = Measure(
        "test_accuracy" if bounded else "test_loss", larger_is_better=bounded
    )
    assert smallest_near(context, [(SMALL, small), (LARGE, large)], base)[0] == first
