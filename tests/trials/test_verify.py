"""Verification over fresh seeds, on trainings that follow a formula."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import pytest

from reenact.errors import TimeSpent
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.testing.strategy import rate_decides, search_context, set_to
from reenact.trials.statistics import compare, detectable_gain, signed_rank_p
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Trial
from reenact.trials.verify import SHARES, SIGNIFICANT, Verification, verify
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
    assert found[0].p_value == 1.5 * found[0].comparison.p_value, (
        "a second one might have been verified"
    )


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
    """Two changes a case, each seed better or worse by chance: all patterns of six seeds are
    counted.
    """
    values = [
        signed_rank_p([sign * size for sign, size in zip(signs, range(1, 7), strict=True)])
        for signs in product((-1, 1), repeat=6)
    ]
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


def test_a_third_one_is_not_verified() -> None:
    """The shares of two are the whole of what may be wrong, also where neither holds."""
    others = [Patch((set_to(Kind.BATCH_SIZE, size),)) for size in (16, 24, 48)]
    found, late, begun = verified(*others, HELPS)
    assert late is None
    assert begun == others[: len(SHARES)] == others[:2]
    assert not any(one.holds for one in found)
    assert sum(SHARES) == 1


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


def trained(before: Sequence[float], after: Sequence[float], **known: object) -> BudgetedTrainer:
    """A trainer whose metric is given for each seed from 1001 on, without and with a change; a
    number that is not finite is a crash.
    """
    given = search_context(rate_decides, budget="100x")

    def play(trial: Trial) -> Outcome:
        value = (after if trial.patch else before)[trial.seed - 1001]
        if value == float("-inf"):
            return Outcome(OutcomeKind.CRASHED, cpu_seconds=1.0)
        return Outcome(
            OutcomeKind.FINISHED,
            steps=9,
            metrics={"test_accuracy": value},
            cpu_seconds=1.0,
        )

    given.executor.play = play
    return replace(given.context.trainer.apart(), **known)


def verification(
    before: Sequence[float], after: Sequence[float], *others: Patch, **known: object
) -> Verification:
    seeds = range(1001, 1001 + len(before))
    found, _ = verify(
        [HELPS, *others], trained(before, after, **known), seeds, begin=lambda _: None
    )
    return found[0]


LEVEL = (0.50, 0.501, 0.502, 0.503, 0.504, 0.505)


@pytest.mark.parametrize(("gain", "enough"), [(0.024, False), (0.026, True)])
def test_what_is_significant_must_be_enough_to_matter(gain: float, enough: bool) -> None:
    """A twentieth of what was left to gain, which is about a half."""
    one = verification(LEVEL, [value + gain for value in LEVEL])
    assert one.significant
    assert (one.material, one.holds) == (enough, enough)


@pytest.mark.parametrize(
    ("p_value", "significant"), [(0.0499, True), (0.05, False), (0.0501, False)]
)
def test_significant_is_below_one_in_twenty(p_value: float, significant: bool) -> None:
    compared = compare(LEVEL, [0.9] * 6)
    one = Verification(HELPS, (1,), compared, p_value, material=True, cpu_seconds=0.0)
    assert (one.significant, one.holds) == (significant, significant)
    assert SIGNIFICANT == 0.05


def test_a_significant_difference_that_is_no_improvement_does_not_hold() -> None:
    after = [value + 0.3 for value in LEVEL]
    guessing = verification(LEVEL, after, majority=0.85)
    assert (guessing.significant, guessing.material, guessing.holds) == (
        True,
        True,
        False,
    )
    assert "most frequent class" in guessing.shortfall
    better = verification(LEVEL, after, majority=0.75)
    assert (better.shortfall, better.holds) == ("", True)


def test_why_it_is_no_improvement_is_asked_only_of_what_is_significant() -> None:
    after = [
        *(value + 0.3 for value in LEVEL[:3]),
        *(value - 0.3 for value in LEVEL[3:]),
    ]
    assert verification(LEVEL, after, majority=0.9).shortfall == ""


def test_what_rests_on_failures_does_not_hold() -> None:
    """Five pairs that trained before have p = 1/32, four have 1/16; no constant answer is known."""
    after = [value + 0.3 for value in LEVEL]
    assert verification([float("-inf"), *LEVEL[1:]], after).holds
    four = verification([float("-inf"), float("-inf"), *LEVEL[2:]], after)
    assert (four.significant, four.material, four.holds) == (True, True, False)


@pytest.mark.parametrize(("pairs", "holds"), [(6, True), (5, False)])
def test_pairs_that_trained_before_must_pass_the_level_of_their_share(
    pairs: int, holds: bool
) -> None:
    """The second of two changes has a third of 0.05: above 1/64, below 1/32."""
    failed = [float("-inf")] * (6 - pairs)
    trainer = trained([*failed, *LEVEL[6 - pairs :]], [value + 0.3 for value in LEVEL])
    play = trainer.executor.play  # type: ignore[attr-defined]

    def only_the_rate(trial: Trial) -> Outcome:
        turned = any(
            change.hyperparameter.kind is Kind.LEARNING_RATE for change in trial.patch.changes
        )  # type: ignore[union-attr]
        return play(trial) if turned else play(replace(trial, patch=Patch(())))

    trainer.executor.play = only_the_rate  # type: ignore[attr-defined]
    first, second = verify([DOES_NOTHING, HELPS], trainer, SEEDS, begin=lambda _: None)[0]
    assert not first.significant
    assert (second.significant, second.holds) == (True, holds)


def test_a_p_value_is_at_most_one() -> None:
    worse = [value - 0.1 for value in LEVEL]
    assert verification(LEVEL, worse, DOES_NOTHING).p_value == 1.0


def test_the_first_look_is_at_six_seeds_of_more() -> None:
    mixed = (0.1, 0.2, -0.05, 0.15, 0.3, 0.25, 0.22, 0.17, 0.13)
    before = [0.5] * 9
    after = [0.5 + gain for gain in mixed]
    nine = verification(before, after)
    assert len(nine.seeds) == 9
    assert nine.p_value == signed_rank_p(
        [new - old for old, new in zip(before, after, strict=True)], looked=6
    )
    six = verification(before[:6], after[:6])
    assert len(six.seeds) == 6
    assert six.p_value == signed_rank_p(
        [new - old for old, new in zip(before[:6], after[:6], strict=True)]
    )
    seven = verification(before[:7], [*after[:2], 0.6, *after[3:7]])
    assert len(seven.seeds) == 6, "all six are better"


@pytest.mark.parametrize("worse", range(7))
@pytest.mark.parametrize("seeds", [2, 5, 6])
def test_a_look_at_all_seeds_costs_no_level(seeds: int, worse: int) -> None:
    """Six with one that is the least worse have 2/64: not settled, and no seed is left."""
    gains = [0.01 * (rank + 1) * (-1 if rank < worse else 1) for rank in range(seeds)]
    before = [0.5] * seeds
    after = [0.5 + gain for gain in gains]
    one = verification(before, after)
    assert len(one.seeds) == seeds
    assert one.p_value == compare(before, after).p_value


@pytest.mark.parametrize(("seeds", "p_value"), [(6, 2 / 64), (7, 2 / 128 + 1 / 64 - 1 / 128)])
def test_the_seventh_seed_is_trained_and_the_look_is_counted(seeds: int, p_value: float) -> None:
    """The first one is worse by the least, the others are better."""
    after = [0.5 + 0.01 * gain for gain in (-1, 2, 3, 4, 5, 6, 7)[:seeds]]
    one = verification([0.5] * seeds, after)
    assert (len(one.seeds), one.p_value) == (seeds, pytest.approx(p_value))


def test_how_large_a_gain_would_have_been_seen_is_known_by_plan_and_share() -> None:
    before = [0.5] * 9
    after = [0.5 + gain for gain in (0.1, 0.2, -0.05, 0.15, 0.3, 0.25, 0.22, 0.17, 0.13)]
    nine = verification(before, after)
    assert nine.detectable == detectable_gain(before, after, planned=9, alpha=0.05, looked=6)
    six = verification(before[:6], after[:6])
    assert six.detectable == detectable_gain(before[:6], after[:6], planned=6, alpha=0.05)
    first = verification(before[:6], after[:6], DOES_NOTHING)
    assert first.detectable == detectable_gain(before[:6], after[:6], planned=6, alpha=0.05 * 2 / 3)


def test_what_a_verification_took_is_its_own() -> None:
    assert verification(LEVEL, [0.9] * 6).cpu_seconds == 12.0
    trainer = trained(LEVEL, [value - 0.1 for value in LEVEL])
    first, second = verify([HELPS, DOES_NOTHING], trainer, SEEDS, begin=lambda _: None)[0]
    assert (first.cpu_seconds, second.cpu_seconds) == (12.0, 6.0), (
        "the unchanged program is trained once"
    )


@pytest.mark.parametrize(("budget", "begun"), [("18t", 2), ("17t", 1)])
def test_the_second_one_fits_the_budget_to_the_training(budget: str, begun: int) -> None:
    """One to see the cost, twelve for the first, six for the second: the account is apart from
    the first.
    """
    assert len(verified(DOES_NOTHING, HELPS, budget=budget, counted=True)[2]) == begun


def test_the_first_one_is_verified_whatever_the_budget_is() -> None:
    assert len(verified(HELPS, budget="1t", counted=True)[2]) == 1


def test_what_cannot_reach_the_level_of_its_share_any_more_is_given_up() -> None:
    """One of six is worse by the fourth rank: two better ones more would give p = 0.039."""
    before = [0.5] * 8
    after = [0.5 + 0.01 * gain for gain in (-3.5, 1, 2, 3, 4, 5, 6, 7)]
    assert len(verification(before, after).seeds) == 8
    assert len(verification(before, after, DOES_NOTHING).seeds) == 6
