"""Verification over fresh seeds, on trainings that follow a formula."""

from __future__ import annotations

from itertools import product

import pytest

from reenact.errors import TimeSpent
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.testing.strategy import rate_decides, search_context, set_to
from reenact.trials.statistics import signed_rank_p
from reenact.trials.verify import SHARES, Verification, verify
from reenact.types import Stop

HELPS = Patch((set_to(Kind.LEARNING_RATE, 0.01),))
DOES_NOTHING = Patch((set_to(Kind.BATCH_SIZE, 16),))
SEEDS = range(1001, 1007)


class Late(Stop):
    """Its time is up."""

    def remaining(self) -> float | None:
        return 0.0


def verified(
    *patches: Patch, budget: str = "100x", counted: bool = False
) -> tuple[tuple[Verification, ...], TimeSpent | None, list[Patch]]:
    trainer = search_context(rate_decides, budget=budget, noise=0.01).context.trainer
    begun: list[Patch] = []
    found, late = verify(patches, trainer.apart(), SEEDS, begin=begun.append, counted=counted)
    return found, late, begun


def test_the_first_that_holds_ends_it() -> None:
    found, late, begun = verified(HELPS, DOES_NOTHING)
    assert late is None
    assert begun == [HELPS]
    assert [(one.patch, one.holds, one.seeds) for one in found] == [(HELPS, True, tuple(SEEDS))]
    assert found[0].p_value == 1.5 * found[0].comparison.p_value, "a second one might have been verified"


def test_six_seeds_settle_what_is_clear_and_the_rest_is_not_trained() -> None:
    trainer = search_context(rate_decides, budget="100x", noise=0.01).context.trainer.apart()
    seeds = range(1001, 1011)
    (clear,), _ = verify([HELPS], trainer, seeds, begin=lambda _: None)
    assert (clear.holds, clear.seeds, clear.p_value) == (True, tuple(seeds)[:6], 1 / 64)
    assert trainer.usage.trainings == 12
    (hopeless,), _ = verify([DOES_NOTHING], trainer, seeds, begin=lambda _: None)
    assert not hopeless.holds
    assert len(hopeless.seeds) in (6, 10)


def test_one_that_has_no_other_beside_it_is_not_corrected() -> None:
    (only,), _, _ = verified(HELPS)
    assert only.p_value == only.comparison.p_value


def test_changes_that_do_nothing_hold_in_at_most_one_case_of_twenty() -> None:
    """Two changes a case, each seed better or worse by chance: all patterns of six seeds are counted."""
    values = [signed_rank_p([sign * size for sign, size in zip(signs, range(1, 7), strict=True)])
              for signs in product((-1, 1), repeat=6)]  # fmt: skip
    first, second = (sum(p / share < 0.05 for p in values) / len(values) for share in SHARES)
    assert min(first, second) > 0
    assert first + (1 - first) * second <= 0.05
    as_it_was = [sum(p < alpha for p in values) / len(values) for alpha in (0.05, 0.025)]
    assert as_it_was[0] + (1 - as_it_was[0]) * as_it_was[1] > 0.05


def test_a_second_one_is_verified_and_both_are_corrected() -> None:
    found, _, begun = verified(DOES_NOTHING, HELPS, HELPS + DOES_NOTHING)
    assert begun == [DOES_NOTHING, HELPS]
    assert [one.holds for one in found] == [False, True]
    assert found[1].p_value == pytest.approx(3 * found[1].comparison.p_value)


def test_a_second_one_must_be_within_the_budget_where_it_counts() -> None:
    assert verified(DOES_NOTHING, HELPS, budget="13x", counted=True)[2] == [DOES_NOTHING]
    assert verified(DOES_NOTHING, HELPS, budget="13x")[2] == [DOES_NOTHING, HELPS]


def test_what_was_verified_before_the_time_was_up_is_kept() -> None:
    trainer = search_context(rate_decides, noise=0.01).context.trainer

    def begin(patch: Patch) -> None:
        if patch == HELPS:
            trainer.stop = Late(60.0)

    found, late = verify([DOES_NOTHING, HELPS], trainer, SEEDS, begin=begin)
    assert [one.patch for one in found] == [DOES_NOTHING]
    assert isinstance(late, TimeSpent)
