"""The minimiser: what does nothing goes, what is needed stays, little evidence cuts nothing."""

from __future__ import annotations

import pytest

from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.minimise import ENDED, share_of_gain, smallest
from reenact.testing.strategy import Values, search_context, set_to
from reenact.trials.metric import Measure

RATE = set_to(Kind.LEARNING_RATE, 0.001)
BATCH = set_to(Kind.BATCH_SIZE, 16)
UNITS = set_to(Kind.UNITS, 16)


def by(**gains: float):
    """Base 0.3; each turned hyperparameter adds its part."""
    turned = {"rate": (Kind.LEARNING_RATE, 0.001), "batch": (Kind.BATCH_SIZE, 16)}

    def formula(values: Values) -> float:
        return 0.3 + sum(
            gain for name, gain in gains.items() if values[turned[name][0]] == turned[name][1]
        )

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


@pytest.mark.parametrize(("kept", "parts"), [(0.92, 1), (0.88, 2)])
def test_a_smaller_change_must_keep_nine_tenths_of_the_gain(kept: float, parts: int) -> None:
    given = search_context(by(rate=0.5 * kept, batch=0.5 * (1 - kept)), budget="60x", noise=0.0005)
    patch, cuts, short = smallest(Patch((RATE, BATCH)), given.context)
    assert patch.complexity == parts
    first = cuts[0]
    assert first.patch == Patch((RATE,))
    assert (first.suffices, first.seeds) == (parts == 1, 5)
    assert first.kept == pytest.approx(kept, abs=0.01)
    assert short == ""


@pytest.mark.parametrize(("kept", "seeds"), [(0.82, 5), (0.78, 1)])
def test_what_keeps_less_than_four_fifths_on_one_seed_is_not_looked_at_again(
    kept: float, seeds: int
) -> None:
    given = search_context(by(rate=0.5 * kept, batch=0.5 * (1 - kept)), budget="60x", noise=0.0005)
    _, cuts, _ = smallest(Patch((RATE, BATCH)), given.context)
    assert [cut.seeds for cut in cuts if cut.patch == Patch((RATE,))] == [seeds]
    assert not any(cut.suffices for cut in cuts)


def test_exactly_four_fifths_is_looked_at_again() -> None:
    reached = {(0.5, 32): 0.0, (0.001, 32): 0.8, (0.5, 16): 0.0, (0.001, 16): 1.0}

    def formula(values: Values) -> float:
        rate, batch = values[Kind.LEARNING_RATE], values[Kind.BATCH_SIZE]
        assert isinstance(rate, float)
        assert isinstance(batch, int)
        return reached[rate, batch]

    _, cuts, _ = smallest(Patch((RATE, BATCH)), search_context(formula, budget="60x").context)
    assert (cuts[0].patch, cuts[0].kept, cuts[0].seeds) == (Patch((RATE,)), 0.8, 5)


@pytest.mark.parametrize(
    ("budget", "trained", "parts", "note"),
    [
        ("1t", 1, 2, ENDED),
        ("2t", 3, 2, ENDED),
        ("14t", 4, 2, ENDED),
        ("15t", 15, 1, ""),
    ],
)
def test_the_budget_decides_to_the_training(
    budget: str, trained: int, parts: int, note: str
) -> None:
    """One is spent. The first look at a part takes one of the part; the test takes four more seeds
    of the part, of the whole change and of the program as it stands.
    """
    given = search_context(by(rate=0.5), budget=budget)
    patch, _, short = smallest(Patch((RATE, BATCH)), given.context)
    assert (patch.complexity, short) == (parts, note)
    assert len(given.executor.ran) == trained


def test_a_part_that_cannot_be_judged_is_not_trained() -> None:
    """A loss does not judge a change of the loss."""
    given = search_context(by(rate=0.5), budget="60x")
    loss = set_to(Kind.LOSS, "mse")
    given.context.trainer.measure = Measure("test_accuracy", is_loss=True)
    patch, cuts, _ = smallest(Patch((loss, RATE)), given.context)
    assert patch == Patch((RATE,))
    assert [cut.patch for cut in cuts] == [Patch((RATE,))]
    assert Patch((loss,)) not in [trial.patch for trial in given.executor.ran]


@pytest.mark.parametrize(
    ("before", "full", "smaller", "share"),
    [
        ((0.2,), (0.6,), (0.4,), 0.5),
        ((0.2,), (0.6,), (0.7,), 1.0),
        ((0.2,), (0.6,), (0.6,), 1.0),
        ((0.2,), (0.6,), (0.0,), -0.5),
        ((0.5,), (0.5,), (0.5,), 1.0),
        ((0.5,), (0.5,), (0.4,), 0.0),
        ((0.5,), (0.4,), (0.3,), 0.0),
        ((0.2,), (0.6,), (float("-inf"),), float("-inf")),
        ((0.1, 0.2, 0.9), (0.1, 0.6, 0.7), (0.0, 0.4, 0.5), 0.5),
        ((float("-inf"),), (0.6,), (0.5,), 1.0),
        ((float("-inf"),), (0.6,), (float("-inf"),), 0.0),
    ],
)
def test_share_of_gain(
    before: tuple[float], full: tuple[float], smaller: tuple[float], share: float
) -> None:
    assert share_of_gain(before, full, smaller) == pytest.approx(share)
