"""The minimiser: what does nothing goes, what is needed stays, little evidence cuts nothing."""

from __future__ import annotations

import pytest

from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.minimise import share_of_gain, smallest
from reenact.testing.strategy import Values, search_context, set_to

RATE = set_to(Kind.LEARNING_RATE, 0.001)
BATCH = set_to(Kind.BATCH_SIZE, 16)
UNITS = set_to(Kind.UNITS, 16)


def by(**gains: float):
    """Base 0.3; each turned hyperparameter adds its part."""
    turned = {"rate": (Kind.LEARNING_RATE, 0.001), "batch": (Kind.BATCH_SIZE, 16)}

    def formula(values: Values) -> float:
        return 0.3 + sum(gain for name, gain in gains.items() if values[turned[name][0]] == turned[name][1])

    return formula


def test_what_does_nothing_is_left_out() -> None:
    given = search_context(by(rate=0.5), budget="60x", noise=0.005)
    patch, cuts, short = smallest(Patch((RATE, BATCH, UNITS)), given.context)
    assert patch == Patch((RATE,))
    assert any(cut.suffices for cut in cuts)
    assert short == ""


def test_what_is_needed_stays() -> None:
    given = search_context(by(rate=0.3, batch=0.3), budget="60x", noise=0.005)
    patch, cuts, _ = smallest(Patch((RATE, BATCH)), given.context)
    assert patch == Patch((RATE, BATCH))
    assert not any(cut.suffices for cut in cuts)


def test_noise_cannot_pass_for_smallness() -> None:
    """A part that keeps 80 % of the gain is inferior, however wide the noise is."""
    kept = 0
    for _ in range(8):
        given = search_context(by(rate=0.4, batch=0.1), budget="60x", noise=0.03)
        patch, _, _ = smallest(Patch((RATE, BATCH)), given.context)
        kept += patch.complexity == 2
    assert kept == 8


def test_a_single_change_costs_nothing() -> None:
    given = search_context(by(rate=0.5), budget="60x")
    before = len(given.executor.ran)
    assert smallest(Patch((RATE,)), given.context) == (Patch((RATE,)), [], "")
    assert len(given.executor.ran) == before


def test_without_budget_the_change_stays_and_a_note_says_so() -> None:
    given = search_context(by(rate=0.5), budget="7x")
    patch, cuts, short = smallest(Patch((RATE, BATCH)), given.context)
    assert patch.complexity == 2
    assert not any(cut.suffices for cut in cuts)
    assert "budget" in short


def test_what_is_clearly_needed_costs_one_training_a_part() -> None:
    given = search_context(by(rate=0.3, batch=0.3), budget="60x")
    _, cuts, short = smallest(Patch((RATE, BATCH)), given.context)
    assert [cut.seeds for cut in cuts] == [1, 1]
    assert len(given.executor.ran) == 4
    assert short == ""


@pytest.mark.parametrize(
    ("before", "full", "smaller", "share"),
    [
        ((0.2,), (0.6,), (0.4,), 0.5),
        ((0.2,), (0.6,), (0.7,), 1.0),
        ((float("-inf"),), (0.6,), (0.5,), 1.0),
        ((float("-inf"),), (0.6,), (float("-inf"),), 0.0),
    ],
)
def test_share_of_gain(before: tuple[float], full: tuple[float], smaller: tuple[float], share: float) -> None:
    assert share_of_gain(before, full, smaller) == pytest.approx(share)
