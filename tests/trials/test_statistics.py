from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reenact.errors import InputError
from reenact.trials.statistics import (
    cohen_d,
    compare,
    glm_p,
    is_settled,
    non_inferior,
    signed_rank_p,
)

numbers = st.integers(-5, 5).map(float)


def by_enumeration(differences: list[float]) -> float:
    """The definition: over all sign patterns, how often the positive ranks sum to as much as seen."""
    ranks = stats.rankdata([abs(value) for value in differences])
    signed = [(rank, value) for rank, value in zip(ranks, differences, strict=True) if value != 0]
    if not signed:
        return 1.0
    seen = sum(rank for rank, value in signed if value > 0)
    patterns = itertools.product((0, 1), repeat=len(signed))
    sums = [sum(bit * rank for bit, (rank, _) in zip(pattern, signed, strict=True)) for pattern in patterns]
    return sum(total >= seen - 1e-9 for total in sums) / len(sums)


@given(st.lists(numbers, min_size=2, max_size=9))
def test_the_p_value_is_exact_with_ties_and_zeros(differences: list[float]) -> None:
    assert signed_rank_p(differences) == pytest.approx(by_enumeration(differences))


@pytest.mark.parametrize("planned", [8, 10, pytest.param(12, marks=pytest.mark.slow)])
def test_a_look_on_the_way_keeps_the_level_and_settles_only_what_is_certain(planned: int) -> None:
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
def test_the_p_value_after_a_look_counts_what_would_have_ended_there(differences: list[float]) -> None:
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
def test_swapping_the_samples_turns_the_effect_round(pairs: list[tuple[float, float]]) -> None:
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
