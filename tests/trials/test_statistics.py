from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reenact.errors import InputError
from reenact.trials.statistics import (
    EXACT_UP_TO,
    cohen_d,
    compare,
    detectable_effect,
    detectable_gain,
    detectable_words,
    gains_less_than,
    glm_p,
    is_settled,
    non_inferior,
    signed_rank_p,
)

numbers = st.integers(-5, 5).map(float)


def by_enumeration(differences: list[float]) -> float:
    """The definition: over all sign patterns, how often the positive ranks sum to as much as
    seen.
    """
    ranks = stats.rankdata([abs(value) for value in differences])
    signed = [(rank, value) for rank, value in zip(ranks, differences, strict=True) if value != 0]
    if not signed:
        return 1.0
    seen = sum(rank for rank, value in signed if value > 0)
    patterns = itertools.product((0, 1), repeat=len(signed))
    sums = [
        sum(bit * rank for bit, (rank, _) in zip(pattern, signed, strict=True))
        for pattern in patterns
    ]
    return sum(total >= seen - 1e-9 for total in sums) / len(sums)


@given(st.lists(numbers, min_size=2, max_size=9))
def test_the_p_value_is_exact_with_ties_and_zeros(differences: list[float]) -> None:
    assert signed_rank_p(differences) == pytest.approx(by_enumeration(differences))


@pytest.mark.parametrize("planned", [8, 10, pytest.param(12, marks=pytest.mark.slow)])
def test_a_look_on_the_way_keeps_the_level_and_settles_only_what_is_certain(
    planned: int,
) -> None:
    """Over all patterns of signs, each as likely as the others where a change does nothing."""
    looked, alpha, held, stopped = 6, 0.05, 0, 0
    sizes = [math.sin(3 * i) + 2 for i in range(planned)]
    zeros, rest = [0.0] * looked, planned - looked
    for first in itertools.product((-1, 1), repeat=looked):
        seen = [sign * size for sign, size in zip(first, sizes, strict=False)]
        settled = is_settled(zeros, seen, planned, alpha)
        early = signed_rank_p(seen) < alpha
        for later in itertools.product((-1, 1), repeat=rest):
            unseen = [sign * size for sign, size in zip(later, sizes[looked:], strict=True)]
            whole = signed_rank_p([*seen, *unseen], looked=looked) < alpha
            assert early or not whole or not settled, "what was given up could not have held"
            held += early if settled else whole
        stopped += settled * 2**rest
    assert held / 2**planned <= alpha
    assert held / 2**planned > 0.6 * alpha, "nor is the test without power"
    assert stopped / 2**planned > 0.1


@given(st.lists(numbers, min_size=7, max_size=9))
def test_the_p_value_after_a_look_counts_what_would_have_ended_there(
    differences: list[float],
) -> None:
    ranks = stats.rankdata([abs(value) for value in differences])
    seen = sum(rank for rank, value in zip(ranks, differences, strict=True) if value > 0)
    hits, patterns = 0, list(itertools.product((0, 1), repeat=len(differences)))
    for pattern in patterns:
        signed = zip(pattern, ranks, differences, strict=True)
        total = sum(rank for bit, rank, value in signed if bit and value != 0)
        ended = all(pattern[:6]) and 0 not in differences[:6]
        hits += total >= seen - 1e-9 or ended
    wanted = hits / len(patterns) if any(differences) else 1.0
    assert signed_rank_p(differences, looked=6) == pytest.approx(wanted)


def test_it_agrees_with_scipy_where_scipy_is_exact() -> None:
    differences = [0.3, -0.1, 0.7, 1.1, 0.2, -0.4, 0.9, 0.5]
    wanted = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert signed_rank_p(differences) == pytest.approx(wanted)


def test_many_pairs_agree_with_the_exact_test_closely() -> None:
    differences = [math.sin(7 * i) + 0.2 + i / 1000 for i in range(40)]
    wanted = stats.wilcoxon(differences, alternative="greater", method="exact").pvalue
    assert signed_rank_p(differences) == pytest.approx(wanted, abs=0.005)


def test_six_pairs_all_better_are_enough_and_four_are_not() -> None:
    assert compare([0.0] * 6, [1, 2, 3, 4, 5, 6]).p_value < 0.05
    assert compare([0.0] * 4, [1, 2, 3, 4]).p_value > 0.05


@given(st.lists(st.tuples(numbers, numbers), min_size=3, max_size=8))
def test_swapping_the_samples_turns_the_effect_round(
    pairs: list[tuple[float, float]],
) -> None:
    before, after = zip(*pairs, strict=True)
    there, back = compare(before, after), compare(after, before)
    assert there.rank_biserial == pytest.approx(-back.rank_biserial)
    assert there.p_value + back.p_value >= 1 - 1e-12


def test_a_training_that_failed_is_the_worst_not_missing() -> None:
    comparison = compare([-math.inf] * 6, [0.9] * 6)
    assert comparison.p_value < 0.05
    assert comparison.rank_biserial == 1.0


def test_two_failures_are_equal() -> None:
    assert compare([-math.inf] * 6, [-math.inf] * 6).p_value == 1.0


def test_non_inferiority_needs_proof() -> None:
    before, full = [0.1] * 8, [0.9] * 8
    assert non_inferior(before, full, [0.89 + i / 1000 for i in range(8)])
    assert not non_inferior(before, full, [0.80] * 8)
    assert not non_inferior(before[:3], full[:3], [0.9] * 3), "three seeds cannot prove anything"


def test_cohen_d_and_its_edges() -> None:
    assert cohen_d([1, 2, 3], [2, 3, 4]) == pytest.approx(1.0)
    assert cohen_d([1, 1], [1, 1]) == 0.0
    assert cohen_d([1, 1], [2, 2]) == math.inf


def test_glm_p_is_the_wald_test_of_a_gaussian_model() -> None:
    before, after = [0.1, 0.2, 0.15, 0.12], [0.3, 0.28, 0.35, 0.31]
    t = stats.ttest_ind(after, before).statistic
    assert glm_p(before, after) == pytest.approx(2 * stats.norm.sf(abs(t)))
    assert glm_p([1, 1], [1, 1]) == 1.0
    assert glm_p([1, 1], [2, 2]) == 0.0


def test_samples_of_different_length_are_refused() -> None:
    with pytest.raises(InputError, match="before=2, after=3"):
        compare([1, 2], [1, 2, 3])


@pytest.mark.parametrize("length", [0, 1])
def test_less_than_two_pairs_are_refused(length: int) -> None:
    with pytest.raises(InputError, match="at least 2"):
        compare([1.0] * length, [2.0] * length)


def test_two_pairs_are_compared() -> None:
    both = compare([0.0, 0.0], [1.0, 2.0])
    assert (both.p_value, both.rank_biserial, both.before, both.after) == (
        0.25,
        1.0,
        (0.0, 0.0),
        (1.0, 2.0),
    )
    assert compare([1.0, 2.0], [1.0, 2.0]).rank_biserial == 0.0
    assert compare([0.0] * 3, [1.0, -2.0, 3.0]).rank_biserial == pytest.approx((1 - 2 + 3) / 6)


def test_the_normal_approximation_begins_above_twenty_pairs() -> None:
    def differences(pairs: int) -> list[float]:
        return [(i + 1) * (-1 if i % 3 == 0 else 1) for i in range(pairs)]

    assert EXACT_UP_TO == 20
    exact = stats.wilcoxon(differences(20), alternative="greater", method="exact").pvalue
    assert signed_rank_p(differences(20)) == pytest.approx(exact, abs=1e-12)
    positive = sum(value for value in differences(21) if value > 0)
    deviation = math.sqrt(sum(rank**2 for rank in range(1, 22))) / 2
    approximate = stats.norm.sf((positive - 0.5 - 21 * 22 / 4) / deviation)
    assert signed_rank_p(differences(21)) == pytest.approx(approximate, abs=1e-12)


def test_a_look_counts_only_where_it_could_have_ended_the_test() -> None:
    better = [-1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]
    assert signed_rank_p(better, looked=6) > signed_rank_p(better)
    assert signed_rank_p([0.0, *better[1:]], looked=6) == signed_rank_p([0.0, *better[1:]])
    assert signed_rank_p(better, looked=0) == signed_rank_p(better)


def test_all_better_settles_it_and_a_tie_among_them_does_not() -> None:
    zeros = [0.0] * 6
    assert is_settled(zeros, [1, 2, 3, 4, 5, 6], 10, 0.05)
    assert not is_settled(zeros, [0, 2, 3, 4, 5, 6], 10, 0.05)


def test_what_can_no_longer_reach_the_level_is_settled() -> None:
    seen = [-1.0, 2, 3, 4, 5, 6]
    least = signed_rank_p([*seen, *[math.inf] * 4], looked=6)
    assert is_settled([0.0] * 6, seen, 10, least), "p below the level is needed, not p at the level"
    assert not is_settled([0.0] * 6, seen, 10, least + 1e-9)


@pytest.mark.parametrize(("kept", "enough"), [(0.895, False), (0.9, False), (0.905, True)])
def test_nine_tenths_of_the_gain_must_be_kept(kept: float, enough: bool) -> None:
    before, full = [0.0] * 6, [1.0] * 6
    assert non_inferior(before, full, [kept] * 6) is enough
    assert non_inferior(before, full, [kept - 0.4] * 6, keep=0.5) is enough


@pytest.mark.parametrize(("pairs", "enough"), [(4, False), (5, True)])
def test_five_pairs_can_prove_it_and_four_cannot(pairs: int, enough: bool) -> None:
    assert non_inferior([0.0] * pairs, [1.0] * pairs, [1.0] * pairs) is enough


@pytest.mark.parametrize(("worse", "enough"), [(0.85, True), (0.80, False)])
def test_the_level_of_non_inferiority_lies_between_three_and_four_of_64(
    worse: float, enough: bool
) -> None:
    """Six pairs of which the one that keeps too little has the second or the third rank: p =
    3/64, 5/64.
    """
    smaller = [0.91, 0.97, 1.0, 1.1, 1.2, worse]
    assert non_inferior([0.0] * 6, [1.0] * 6, smaller) is enough


def test_to_train_at_all_is_the_gain_where_it_failed_before() -> None:
    failed = [-math.inf] * 6
    assert non_inferior(failed, [0.9] * 6, [0.2] * 6)
    assert not non_inferior(failed, [0.9] * 6, failed)
    assert not non_inferior([0.1] * 6, [0.9] * 6, failed)


def test_no_gain_is_shown_from_three_pairs_on() -> None:
    assert gains_less_than(0.5, [0.0] * 3, [0.01, 0.0, -0.01])
    assert not gains_less_than(0.5, [0.0] * 2, [0.01, -0.01])


@pytest.mark.parametrize(("margin", "below"), [(1.5, False), (1.68, False), (1.69, True)])
def test_the_limit_of_a_gain_has_one_degree_of_freedom_less_than_pairs(
    margin: float, below: bool
) -> None:
    """Differences -1, 0, 1: 2.92 / sqrt(3) = 1.686 by two degrees of freedom, 1.36 by three."""
    assert gains_less_than(margin, [0.0] * 3, [-1.0, 0.0, 1.0]) is below
    assert gains_less_than(margin + 2, [0.0] * 3, [1.0, 2.0, 3.0]) is below


def test_a_gain_at_the_margin_is_not_below_it() -> None:
    assert not gains_less_than(0.25, [0.0] * 4, [0.25] * 4)
    assert gains_less_than(0.2500001, [0.0] * 4, [0.25] * 4)


def test_a_failed_training_shows_no_gain_and_no_lack_of_it() -> None:
    assert not gains_less_than(9.0, [0.0] * 4, [0.0, 0.0, 0.0, -math.inf])
    assert not gains_less_than(9.0, [-math.inf, 0.0, 0.0, 0.0], [0.0] * 4)


def test_cohen_d_pools_both_deviations_and_keeps_the_sign() -> None:
    before, after = [0.0, 2.0], [5.0, 11.0]
    assert cohen_d(before, after) == pytest.approx(7 / math.sqrt((2 + 18) / 2))
    assert cohen_d(after, before) == pytest.approx(-7 / math.sqrt((2 + 18) / 2))
    assert cohen_d([2, 2], [1, 1]) == -math.inf
    assert cohen_d([0.0, -math.inf], [1.0, 2.0]) == math.inf
    assert cohen_d([0.0, -math.inf], [-math.inf, 1.0]) == 0.0


def test_glm_p_of_samples_of_different_length_and_constant_ones() -> None:
    before, after = [0.1, 0.5, 0.3], [0.4, 0.6, 0.7, 0.9, 0.5]
    t = stats.ttest_ind(after, before).statistic
    assert glm_p(before, after) == pytest.approx(2 * stats.norm.sf(abs(t)))
    assert glm_p([2, 2], [1, 1]) == 0.0


def test_the_detectable_effect_where_every_pair_must_be_better() -> None:
    """Five pairs reach 0.05 only by 1/32: the fifth power of the share of better pairs is 0.8."""
    wanted = stats.norm.ppf(0.8 ** (1 / 5))
    assert detectable_effect(5, 0.05) == pytest.approx(wanted, abs=0.04)
    looked = stats.norm.ppf(0.8 ** (1 / 6))
    assert detectable_effect(7, 0.02, looked=6) == pytest.approx(looked, abs=0.04)


@pytest.mark.parametrize(("pairs", "looked"), [(6, 0), (10, 6)])
def test_the_detectable_effect_is_found_four_times_out_of_five(pairs: int, looked: int) -> None:
    effect = detectable_effect(pairs, 0.05, looked=looked)
    assert effect is not None
    chance, trials, hits = random.Random(7), 1000, 0
    for _ in range(trials):
        differences = [chance.gauss(effect, 1.0) for _ in range(pairs)]
        early = bool(looked) and min(differences[:looked]) > 0
        hits += early or signed_rank_p(differences, looked=looked) < 0.05
    assert 0.76 < hits / trials < 0.85


def power_of(effect: float, pairs: int, alpha: float, looked: int) -> float:
    """By the definition: how many of the 4000 experiments from a fixed seed are found, over all
    patterns of signs.
    """
    ranks = np.arange(1, pairs + 1)
    totals = np.array(list(itertools.product((0, 1), repeat=pairs))) @ ranks
    early = 0.5**looked if looked else 0.0
    reached = [
        total for total in range(ranks.sum() + 1) if (totals >= total).mean() < alpha - early
    ]
    differences = np.random.default_rng(0).standard_normal((4000, pairs)) + effect
    positive = (stats.rankdata(np.abs(differences), axis=1) * (differences > 0)).sum(axis=1)
    found = np.isin(positive, reached)
    if looked:
        found |= (differences[:, :looked] > 0).all(axis=1)
    return float(found.mean())


@pytest.mark.parametrize(
    ("pairs", "alpha", "looked"),
    [(5, 0.05, 0), (6, 0.05, 0), (8, 0.05 / 3, 0), (12, 0.05, 0), (10, 0.05, 6), (9, 0.02, 6)],
)
def test_the_detectable_effect_is_the_smallest_that_is_found_four_times_out_of_five(
    pairs: int, alpha: float, looked: int
) -> None:
    effect = detectable_effect(pairs, alpha, looked=looked)
    assert effect is not None
    assert power_of(effect, pairs, alpha, looked) >= 0.8
    assert power_of(effect - 0.0011, pairs, alpha, looked) < 0.8


def test_the_more_pairs_the_smaller_an_effect_is_found() -> None:
    """By thirty pairs, whose sum is nearly normal: (1.645 + 0.842) / sqrt(30 * 3 / pi)."""
    effects = [detectable_effect(pairs, 0.05) for pairs in (5, 8, 12, 20, 30)]
    assert all(effect is not None for effect in effects)
    assert effects == sorted(effects, reverse=True)  # type: ignore[type-var]
    assert effects[-1] == pytest.approx((1.645 + 0.842) / math.sqrt(30 * 3 / math.pi), abs=0.02)


@pytest.mark.parametrize(("alpha", "possible"), [(1 / 64, False), (1 / 64 + 1e-9, True)])
def test_a_level_that_so_few_pairs_cannot_reach_detects_nothing(
    alpha: float, possible: bool
) -> None:
    assert (detectable_effect(6, alpha) is not None) is possible
    assert (detectable_effect(6, alpha, looked=6) is not None) is possible


def test_the_detectable_gain_is_in_the_units_of_the_metric() -> None:
    before, after = [0.5, 0.5, 0.5, 0.5, 0.5, 0.5], [0.4, 0.6, 0.5, 0.55, 0.45, 0.5]
    effect = detectable_effect(6, 0.05)
    assert effect is not None
    gain = detectable_gain(before, after, planned=6, alpha=0.05)
    assert gain == pytest.approx(effect * stats.tstd([-0.1, 0.1, 0, 0.05, -0.05, 0]))
    wider = detectable_gain(before, after, planned=10, alpha=0.05, looked=6)
    assert wider is not None
    assert gain is not None
    assert wider < gain, "four more pairs were planned"


def test_the_detectable_gain_is_unknown_without_a_deviation() -> None:
    more = {"planned": 6, "alpha": 0.05}
    assert detectable_gain([0.5] * 6, [0.5] * 6, **more) is None
    assert detectable_gain([0.5] * 6, [*[0.5] * 5, -math.inf], **more) is None
    assert detectable_gain([0.1, 0.2], [0.3, 0.5], **more) is None
    assert detectable_gain([0.1, 0.2, 0.3], [0.3, 0.5, 0.1], **more) is not None
    assert detectable_gain([0.1, 0.2, 0.3], [0.3, 0.5, 0.1], planned=4, alpha=0.05) is None


def test_the_detectable_gain_in_words() -> None:
    assert (
        detectable_words(0.0812) == "a gain of 0.081 or more would have been seen 4 times out of 5"
    )
    assert detectable_words(None) == ""
