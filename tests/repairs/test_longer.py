"""Longer training is taken out of a change unless the gain needs it."""

from __future__ import annotations

import pytest

from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.longer import TAKEN_OUT, has_longer, without_longer
from reenact.testing.strategy import Values, search_context, set_to

RATE = set_to(Kind.LEARNING_RATE, 0.001)
LONGER = set_to(Kind.EPOCHS, 24)


def gained(by_rate: float, by_epochs: float):  # type: ignore[no-untyped-def]
    def formula(values: Values) -> float:
        epochs = values[Kind.EPOCHS]
        assert isinstance(epochs, int)
        rate = values[Kind.LEARNING_RATE] == 0.001
        return 0.2 + by_rate * rate + by_epochs * (epochs > 12)

    return formula


def test_what_needs_no_longer_training_is_freed_of_it() -> None:
    given = search_context(gained(0.6, 0.0), budget="60x", noise=0.005)
    assert without_longer(Patch((RATE, LONGER)), given.context) == (Patch((RATE,)), TAKEN_OUT)


def test_longer_training_stays_where_the_gain_needs_it() -> None:
    given = search_context(gained(0.3, 0.4), budget="60x", noise=0.005)
    patch = Patch((RATE, LONGER))
    assert without_longer(patch, given.context) == (patch, "")


def test_what_cannot_be_paid_is_not_proven() -> None:
    given = search_context(gained(0.3, 0.4), budget="4x", noise=0.005)
    assert without_longer(Patch((RATE, LONGER)), given.context) == (Patch((RATE,)), TAKEN_OUT)


@pytest.mark.parametrize("epochs", [6, 24])
def test_alone_it_is_left_alone(epochs: int) -> None:
    given = search_context(gained(0.0, 0.5))
    patch = Patch((set_to(Kind.EPOCHS, epochs),))
    assert without_longer(patch, given.context) == (patch, "")
    assert has_longer(patch, given.context) is (epochs > 12)
