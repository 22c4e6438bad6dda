"""What claims say together: rankings, ablations, and the verdict that weighs them first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from reenact.paper.measure.gap import Match, compare
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import (
    Judgement,
    Ordering,
    OrderingStatus,
    Verdict,
    orderings,
    verdict_of,
)
from reenact.paper.review.claims import PaperClaim


def claim(
    number: int,
    value: float,
    method: str,
    setting: str = "",
    *,
    higher: bool = True,
    spread: float | None = None,
    dataset: str = "spirals",
    place: str = "t1",
) -> PaperClaim:
    return PaperClaim(
        id=f"C{number}",
        metric="accuracy",
        value=value,
        unit="%",
        higher_is_better=higher,
        method=method,
        dataset=dataset,
        setting=setting,
        spread=spread,
        place=place,
        quote=f"{value}",
    )


def judged(
    claims: Sequence[PaperClaim], measured: Mapping[str, Sequence[float]]
) -> tuple[tuple[Ordering, ...], Judgement]:
    """Metrics m1, m2, ... belong to C1, C2, ...; each has a value a seed."""
    seeds = range(max(map(len, measured.values())))
    runs = [
        FullRun(
            seed,
            True,
            {name: got[seed] for name, got in measured.items()},
            "",
            1.0,
            1.0,
            1.0,
            "",
        )
        for seed in seeds
    ]
    pairs = [Match(claim=f"C{name[1:]}", metric=name) for name in measured]
    compared = compare(claims, runs, pairs)
    found = orderings(compared)
    return found, verdict_of(compared, found, runs=True)


BASELINE, METHOD = claim(1, 95.0, "plain"), claim(2, 97.3, "ours")


def test_a_ranking_that_is_turned_round_is_not_reproduced_however_near_the_numbers_are() -> None:
    (one,), judgement = judged(
        [BASELINE, METHOD], {"m1": [98.0, 98.2, 97.9], "m2": [95.1, 95.0, 95.2]}
    )

    assert (one.better.id, one.worse.id, one.status) == (
        "C2",
        "C1",
        OrderingStatus.FAILS,
    )
    assert one.claimed == pytest.approx(2.3)
    assert judgement.verdict is Verdict.NOT
    assert "0 of 1 ordering and 2 of 2 numbers hold" in judgement.reason
    assert "ours better than plain" in judgement.reason


def test_rows_of_one_table_are_ranked_whatever_each_method_is_set_to() -> None:
    rows = [
        claim(1, 95.0, "plain", "J = 8"),
        claim(2, 97.3, "ours", "J = 8, lambda = 1"),
    ]
    (one,), judgement = judged(rows, {"m1": [98.0, 98.2, 97.9], "m2": [95.1, 95.0, 95.2]})
    assert one.status is OrderingStatus.FAILS
    assert judgement.verdict is Verdict.NOT
    twice = [*rows, claim(3, 96.0, "ours", "lambda = 0")]
    found, _ = judged(twice, {"m1": [95.0], "m2": [97.3], "m3": [96.0]})
    assert [one.ids for one in found] == ["C2 > C3"], "which number of ours is meant is not known"
    unmeasured, _ = judged(rows, {"m1": [95.0, 95.0]})
    assert [(one.ids, one.status) for one in unmeasured] == [("C2 > C1", OrderingStatus.UNMEASURED)]
    elsewhere = [rows[0], rows[1].model_copy(update={"place": "t2"})]
    assert judged(elsewhere, {"m1": [95.0, 95.0]})[0] == (), "nobody set them side by side"


def test_numbers_that_stand_apart_are_ranked_where_both_were_measured() -> None:
    apart = [
        claim(1, 0.5, "Adam", "after 40 epochs", higher=False, place="2:1.1"),
        claim(2, 0.1, "L-BFGS", "after 10 more", higher=False, place="2:4.2"),
    ]
    (one,), judgement = judged(apart, {"m1": [0.1, 0.12, 0.11], "m2": [0.5, 0.49, 0.51]})
    assert (one.ids, one.status, judgement.verdict) == (
        "C2 > C1",
        OrderingStatus.FAILS,
        Verdict.NOT,
    )
    assert not judged(apart, {"m1": [0.5, 0.5]})[0]
    again = claim(3, 0.1, "L-BFGS", "in the end", higher=False, place="5:1.1")
    beside = [
        *apart,
        again,
        claim(4, 0.5, "Adam", "in the end", higher=False, place="5:1.1"),
    ]
    got = {"m1": [0.5, 0.51], "m2": [0.1, 0.11], "m3": [0.1, 0.12], "m4": [0.5, 0.52]}
    assert [one.ids for one in judged([*apart, again], got)[0]] == ["C2 > C1"]
    assert [one.ids for one in judged(beside, got)[0]] == ["C3 > C4"], "stated once, not twice"
    trend = [
        *apart,
        claim(3, 0.2, "Adam", "after 80 epochs", higher=False, place="3:1.1"),
    ]
    assert [one.ids for one in judged(trend, got)[0]] == ["C3 > C1"], (
        "which of Adam's numbers is not known"
    )


def test_a_ranking_and_numbers_that_come_out_are_reproduced() -> None:
    (one,), judgement = judged(
        [BASELINE, METHOD], {"m1": [94.8, 95.3, 95.1], "m2": [97.0, 97.4, 97.2]}
    )

    assert one.status is OrderingStatus.HOLDS
    assert judgement.verdict is Verdict.REPRODUCED


def test_a_ranking_that_holds_with_other_numbers_is_partly_reproduced() -> None:
    (one,), judgement = judged(
        [BASELINE, METHOD], {"m1": [60.0, 61.0, 60.5], "m2": [64.0, 65.0, 64.6]}
    )

    assert one.status is OrderingStatus.HOLDS
    assert judgement.verdict is Verdict.PARTLY


def test_noise_decides_nothing() -> None:
    (one,), judgement = judged(
        [BASELINE, METHOD], {"m1": [93.0, 97.0, 95.0], "m2": [97.5, 95.0, 97.0]}
    )

    assert one.status is OrderingStatus.UNDECIDED
    assert judgement.verdict is Verdict.PARTLY
    assert "too noisy to decide: 1 ordering" in judgement.reason


def test_one_seed_decides_no_ordering() -> None:
    (one,), judgement = judged([BASELINE, METHOD], {"m1": [95.0], "m2": [97.3]})

    assert (one.status, one.low, one.n) == (OrderingStatus.UNDECIDED, None, 1)
    assert judgement.verdict is Verdict.PARTLY
    assert "too few runs to decide: 1 ordering" in judgement.reason


@pytest.mark.parametrize(
    ("method", "status"),
    [
        ([95.2, 95.3, 95.25], OrderingStatus.SMALLER),
        ([95.0, 95.05, 94.95], OrderingStatus.FAILS),
    ],
)
def test_a_difference_that_is_surely_smaller_is_not_the_claimed_one(
    method: list[float], status: OrderingStatus
) -> None:
    (one,), judgement = judged([BASELINE, METHOD], {"m1": [95.0, 95.05, 95.02], "m2": method})

    assert one.status is status
    assert judgement.verdict is not Verdict.REPRODUCED


def test_seeds_are_compared_pairwise() -> None:
    """Every seed is better by two points, though seeds differ by ten."""
    (one,), _ = judged([BASELINE, METHOD], {"m1": [85.0, 95.0, 90.0], "m2": [87.1, 97.0, 91.9]})

    assert one.status is OrderingStatus.HOLDS


def test_of_a_loss_the_smaller_is_better() -> None:
    claims = [claim(1, 0.5, "plain", higher=False), claim(2, 0.3, "ours", higher=False)]
    (one,), _ = judged(claims, {"m1": [0.52, 0.5, 0.51], "m2": [0.29, 0.31, 0.3]})

    assert (one.better.method, one.status) == ("ours", OrderingStatus.HOLDS)


def test_an_ablation_is_an_ordering_and_a_number_within_the_plus_minus_is_none() -> None:
    claims = [
        claim(1, 97.3, "ours", spread=0.2),
        claim(2, 94.0, "ours", "without the filter"),
        claim(3, 97.2, "rival", spread=0.3),
        claim(4, 80.0, "ours", dataset="another"),
    ]
    found, _ = judged(claims, {"m1": [97.0, 97.2], "m2": [94.0, 94.1]})

    assert [one.ids for one in found] == ["C1 > C2"]
    assert "without the filter" in str(found[0])


def test_what_was_not_measured_is_reported() -> None:
    (one,), judgement = judged([BASELINE, METHOD], {"m1": [95.0, 95.1]})

    assert one.status is OrderingStatus.UNMEASURED
    assert "not measured: 1 number" in judgement.reason


def test_a_plus_minus_as_wide_as_the_number_excuses_nothing() -> None:
    wide = claim(1, 0.5, "ours", spread=0.5)
    _, judgement = judged([wide], {"m1": [0.9, 0.9]})

    assert judgement.verdict is Verdict.NOT


WEAK = [claim(1, 97.3, "plain", spread=1.3), claim(2, 95.0, "ours", spread=3.1)]
"""A difference within the plus-minus."""


def test_the_opposite_of_a_difference_within_the_plus_minus_is_not_reproduced() -> None:
    """Both numbers are near enough, and surely the other method is better."""
    found, judgement = judged(WEAK, {"m1": [95.0, 94.8, 95.3], "m2": [97.2, 97.1, 97.4]})

    assert [(one.ids, one.status) for one in found] == [("C1 > C2", OrderingStatus.FAILS)]
    assert judgement.verdict is Verdict.NOT


@pytest.mark.parametrize("ours", [[94.0, 98.5, 95.5], [95.0, 94.0, 94.5]])
def test_a_difference_within_the_plus_minus_needs_no_proof(ours: list[float]) -> None:
    found, judgement = judged(WEAK, {"m1": [96.0, 97.0, 96.5], "m2": ours})

    assert found == ()
    assert judgement.verdict is Verdict.REPRODUCED


@pytest.mark.parametrize(
    ("difference", "status"),
    [
        (1.14, OrderingStatus.SMALLER),
        (1.16, OrderingStatus.HOLDS),
        (0.01, OrderingStatus.SMALLER),
        (-0.01, OrderingStatus.FAILS),
    ],
)
def test_both_sides_of_half_of_the_claimed_difference(
    difference: float, status: OrderingStatus
) -> None:
    """2.3 is claimed; every seed has the same difference, so that limits and mean are one."""
    base = [95.0, 95.0]
    (one,), _ = judged(
        [BASELINE, METHOD], {"m1": base, "m2": [value + difference for value in base]}
    )
    assert one.status is status


@pytest.mark.parametrize(
    ("scale", "status"),
    [(1.02, OrderingStatus.HOLDS), (0.98, OrderingStatus.UNDECIDED)],
)
def test_both_sides_of_95_per_cent(scale: float, status: OrderingStatus) -> None:
    """Three pairs at -d, 0, d around a mean: the limits touch zero at 4.3027 * d / sqrt(3)."""
    mean = scale * 4.30265 / 3**0.5
    gained = [mean - 1, mean, mean + 1]
    (one,), _ = judged(
        [BASELINE, METHOD],
        {"m1": [90.0, 90.0, 90.0], "m2": [90 + gain for gain in gained]},
    )
    assert one.status is status


def test_several_orderings_pay_for_being_several() -> None:
    """One that is just sure by 95 % alone is not sure as one of two, unless the other one is
    surer.
    """
    mean = 1.05 * 4.30265 / 3**0.5
    base = [90.0, 90.0, 90.0]
    ours = [base[0] + mean - 1, base[1] + mean, base[2] + mean + 1]
    claims = [claim(1, 95.0, "plain"), claim(2, 97.3, "ours"), claim(3, 94.0, "other")]
    alone, _ = judged(claims[:2], {"m1": base, "m2": ours})
    assert [one.status for one in alone] == [OrderingStatus.HOLDS]
    both_unsure, _ = judged(claims, {"m1": base, "m2": ours, "m3": base})
    assert [one.status for one in both_unsure] == [OrderingStatus.UNDECIDED] * 2
    # The surer one takes its half; what is left is the whole for the other (Holm, not Bonferroni).
    surer = [value - 5.0 for value in ours]
    stepped, _ = judged(claims, {"m1": base, "m2": ours, "m3": surer})
    assert {one.worse.id: one.status for one in stepped} == {
        "C1": OrderingStatus.HOLDS,
        "C3": OrderingStatus.HOLDS,
    }
