"""Which orderings are stated and what they come to, and the verdict on made comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from reenact.paper.measure.control import ControlStatus, NumberControl, Source
from reenact.paper.measure.gap import Comparison, Match, compare, unmeasured
from reenact.paper.measure.runs import FullRun
from reenact.paper.measure.verdict import (
    CONFIDENCE,
    SECOND_LOOK,
    Ordering,
    OrderingStatus,
    Verdict,
    orderings,
    verdict_of,
)
from reenact.paper.review.claims import PaperClaim
from tests.paper.measure.conftest import make_claim


def claim(number: int, value: float, method: str = "ours", **more: Any) -> PaperClaim:
    return make_claim(f"C{number}", value, "", method=method, **more)


def measured(one: PaperClaim, *values: float | None, metric: str = "") -> Comparison:
    """By seed; None for a seed that left no number. A claim has a metric of its own."""
    name = metric or f"m{one.id}"
    runs = [
        FullRun(seed, True, {name: value}, "", 1.0, 1.0, 1.0, "")
        for seed, value in enumerate(values)
        if value is not None
    ]
    (compared,) = compare([one], runs, [Match(claim=one.id, metric=name)])
    return compared


def of_gains(
    gains: Sequence[float], *, claimed: float = 2.0, confidence: float = CONFIDENCE
) -> Ordering:
    """The one ordering of two methods whose differences by seed are given."""
    ours, plain = claim(1, 10.0 + claimed), claim(2, 10.0, "plain")
    compared = [
        measured(ours, *(8.0 + gain for gain in gains)),
        measured(plain, *[8.0] * len(gains)),
    ]
    (ordering,) = orderings(compared, confidence)
    return ordering


@pytest.mark.parametrize(
    ("gains", "status"),
    [
        ([1.0, 1.0], OrderingStatus.HOLDS),
        ([0.875, 0.875], OrderingStatus.SMALLER),
        ([0.0, 0.0], OrderingStatus.FAILS),
        ([0.125, 0.125], OrderingStatus.SMALLER),
        ([0.0, 0.25, 4.0], OrderingStatus.UNDECIDED),
        ([1.0], OrderingStatus.UNDECIDED),
    ],
)
def test_half_of_the_claimed_difference_is_enough_and_none_is_a_failure(
    gains: list[float], status: OrderingStatus
) -> None:
    assert of_gains(gains).status is status


@pytest.mark.parametrize(
    ("mean", "confidence", "status"),
    [
        (2.50, CONFIDENCE, OrderingStatus.HOLDS),
        (2.47, CONFIDENCE, OrderingStatus.UNDECIDED),
        (3.59, SECOND_LOOK, OrderingStatus.HOLDS),
        (3.57, SECOND_LOOK, OrderingStatus.UNDECIDED),
    ],
)
def test_a_second_look_must_be_surer(
    mean: float, confidence: float, status: OrderingStatus
) -> None:
    """Student's t of two degrees of freedom is 4.303 at 95 % and 6.205 at 97.5 %, over sqrt(3)."""
    ordering = of_gains([mean - 1, mean, mean + 1], confidence=confidence)
    assert ordering.status is status
    assert ordering.measured == pytest.approx(mean)
    assert ordering.low is not None
    assert (ordering.low > 0) is (status is OrderingStatus.HOLDS)


def test_only_seeds_that_measured_both_are_compared() -> None:
    ours, plain = claim(1, 12.0), claim(2, 10.0, "plain")
    compared = [measured(ours, 12.0, None, 12.0, 99.0), measured(plain, 10.0, 50.0, 10.0, None)]
    (ordering,) = orderings(compared)
    assert (ordering.n, ordering.measured, ordering.status) == (2, 2.0, OrderingStatus.HOLDS)


def test_one_metric_for_two_claims_measures_no_difference() -> None:
    ours, plain = claim(1, 12.0), claim(2, 10.0, "plain")
    compared = [measured(one, 12.0, 12.0, metric="same") for one in (ours, plain)]
    (ordering,) = orderings(compared)
    assert (ordering.status, ordering.n, ordering.measured) == (OrderingStatus.UNMEASURED, 0, None)


@pytest.mark.parametrize(
    ("ours", "plain", "stated"),
    [
        (None, None, True),
        (2.0, None, False),
        (None, 2.0, False),
        (1.9, 1.9, True),
        (1.0, 2.1, False),
    ],
)
def test_a_difference_must_be_more_than_the_larger_plus_minus(
    ours: float | None, plain: float | None, stated: bool
) -> None:
    claims = [claim(1, 12.0, spread=ours), claim(2, 10.0, "plain", spread=plain)]
    assert bool(orderings([measured(one, 10.0, 10.0) for one in claims])) is stated


@pytest.mark.parametrize(("ours", "counts"), [(10.0, False), (9.5, True)])
def test_what_is_not_stated_counts_where_the_opposite_is_sure(ours: float, counts: bool) -> None:
    claims = [claim(1, 12.0, spread=2.0), claim(2, 10.0, "plain", spread=2.0)]
    found = orderings([measured(claims[0], ours, ours), measured(claims[1], 10.0, 10.0)])
    assert [one.status for one in found] == [OrderingStatus.FAILS] * counts
    alone = orderings([measured(claims[0], ours), measured(claims[1], 10.0)])
    assert alone == (), "one seed is not sure of anything"


@pytest.mark.parametrize(
    ("other", "pairs"),
    [
        ({}, ["C1 > C2"]),
        ({"dataset": "Rings"}, []),
        ({"metric": "recall"}, []),
        ({"higher_is_better": False}, []),
        ({"bound": ">"}, []),
        ({"value": 12.0}, []),
    ],
)
def test_only_numbers_of_one_kind_are_ordered(other: dict[str, Any], pairs: list[str]) -> None:
    plain = claim(2, 10.0, "plain").model_copy(update=other)
    found = orderings([measured(claim(1, 12.0), 12.0, 12.0), measured(plain, 10.0, 10.0)])
    assert [one.ids for one in found] == pairs


@pytest.mark.parametrize("measured_other", [8.0, 16.0])
def test_equal_claims_state_no_difference(measured_other: float) -> None:
    equal = [claim(1, 12.0), claim(2, 12.0, "plain")]
    compared = [measured(equal[0], 12.0, 12.0), measured(equal[1], *[measured_other] * 2)]
    assert orderings(compared) == ()


def test_units_are_not_ordered_among_each_other() -> None:
    share, per_cent = claim(1, 12.0), claim(2, 10.0, "plain").model_copy(update={"unit": "%"})
    assert orderings([measured(share, 12.0, 12.0), measured(per_cent, 10.0, 10.0)]) == ()


def test_a_number_that_is_stated_twice_counts_once() -> None:
    claims = [claim(1, 12.0), claim(2, 10.0, "plain"), claim(3, 9.0, "plain", place="7:1")]
    found = orderings([measured(one, one.value, one.value) for one in claims])
    assert [one.ids for one in found] == ["C1 > C2"]


def test_the_best_one_stands_against_each_other_one() -> None:
    claims = [claim(1, 10.0, "plain"), claim(2, 12.0), claim(3, 11.0, "rival")]
    found = orderings([measured(one, one.value, one.value) for one in claims])
    assert [one.ids for one in found] == ["C2 > C1", "C2 > C3"]
    losses = [one.model_copy(update={"higher_is_better": False}) for one in claims]
    found = orderings([measured(one, one.value, one.value) for one in losses])
    assert [(one.ids, one.claimed) for one in found] == [("C1 > C2", 2.0), ("C1 > C3", 1.0)]
    assert {one.status for one in found} == {OrderingStatus.HOLDS}


def test_one_number_may_be_the_worse_one_of_two_orderings() -> None:
    """Of another method in the same setting, and of the same method in another setting."""
    claims = [
        claim(1, 12.0, setting="40 epochs", place="1:1"),
        claim(2, 10.0, "plain", setting="40 epochs", place="2:1"),
        claim(3, 11.0, "plain", setting="80 epochs", place="3:1"),
    ]
    found = orderings([measured(one, one.value, one.value) for one in claims])
    assert {one.ids for one in found} >= {"C1 > C2", "C3 > C2"}


@pytest.mark.parametrize(
    ("several", "status"), [(False, OrderingStatus.HOLDS), (True, OrderingStatus.UNDECIDED)]
)
def test_two_seeds_take_a_share_of_the_error_as_well(several: bool, status: OrderingStatus) -> None:
    """Gains of 15 and 17 are so large by chance in 4 % of cases: below 5 %, above the half of it."""
    best = measured(claim(9, 12.0), 8.0, 8.0)
    others = [measured(claim(n, 9.0 - n, f"rival {n}"), -7.0, -9.0) for n in range(1 + several)]
    assert [one.status for one in orderings([best, *others])] == [status] * (1 + several)


def sure(scale: float, confidence: float) -> list[float]:
    """Gains of three seeds whose limits at that confidence touch nought where the scale is 1."""
    from scipy.stats import t

    mean = scale * float(t.ppf((1 + confidence) / 2, 2)) / 3**0.5
    return [mean - 1, mean, mean + 1]


@pytest.mark.parametrize(
    ("levels", "scale", "holding"),
    [
        # The surest of three has a third of 0.05, the next one a half, the last one all of it.
        ((1 - 0.05 / 3, 0.975, 0.95), 1.02, 3),
        ((1 - 0.05 / 3, 0.975, 0.95), 0.98, 0),
        # Once one is not sure, those after it have no larger share than it had.
        ((0.999, 0.97, 0.95), 1.02, 1),
        ((0.999, 0.98, 0.94), 1.02, 2),
        ((0.999, 0.98, 0.96), 1.02, 3),
    ],
)
def test_shares_of_the_error_by_how_sure_each_is(
    levels: tuple[float, ...], scale: float, holding: int
) -> None:
    base = [8.0, 8.0, 8.0]
    best = measured(claim(9, 12.0), *base)
    others = [
        measured(
            claim(number, 10.0 - number, f"rival {number}"),
            *(8.0 - gain for gain in sure(scale, level)),
        )
        for number, level in enumerate(levels)
    ]
    found = orderings([best, *others])
    assert len(found) == 3
    assert sum(one.status is OrderingStatus.HOLDS for one in found) == holding


def test_differences_without_a_deviation_are_sure_or_say_nothing() -> None:
    """Equal gains are surest; no gain at all is the least sure, and takes nothing from the other."""
    best = measured(claim(9, 12.0), 8.0, 8.0, 8.0)
    just = measured(claim(1, 9.0, "just"), *(8.0 - gain for gain in sure(1.02, 0.975)))
    nought = measured(claim(2, 8.0, "nought"), 8.0, 8.0, 8.0)
    found = {one.worse.id: one.status for one in orderings([best, just, nought])}
    assert found == {"C1": OrderingStatus.HOLDS, "C2": OrderingStatus.FAILS}
    unsure = measured(claim(1, 9.0, "just"), *(8.0 - gain for gain in sure(1.02, 0.95)))
    found = {one.worse.id: one.status for one in orderings([best, unsure, nought])}
    assert found == {"C1": OrderingStatus.UNDECIDED, "C2": OrderingStatus.FAILS}
    equal = measured(claim(2, 8.0, "equal"), 6.0, 6.0, 6.0)
    wider = measured(claim(1, 9.0, "just"), *(8.0 - gain for gain in sure(1.02, 0.95)))
    found = {one.worse.id: one.status for one in orderings([best, wider, equal])}
    assert found == {"C1": OrderingStatus.HOLDS, "C2": OrderingStatus.HOLDS}


def test_what_was_not_measured_takes_no_share_of_the_error() -> None:
    best = measured(claim(9, 12.0), 8.0, 8.0, 8.0)
    just = measured(claim(1, 9.0, "just"), *(8.0 - gain for gain in sure(1.02, 0.95)))
    (missing,) = compare([claim(2, 8.0, "missing")], (), ())
    once = measured(claim(3, 7.0, "once"), 5.0)
    found = {one.worse.id: one.status for one in orderings([best, just, missing, once])}
    assert found == {
        "C1": OrderingStatus.HOLDS,
        "C2": OrderingStatus.UNMEASURED,
        "C3": OrderingStatus.UNDECIDED,
    }


# The verdict, on comparisons and orderings that are made.

HIT, MISS = 12.0, 3.0
PASSED = NumberControl(ControlStatus.PASSED, Source.RECOMPUTED)
SAME = ControlStatus.SAME
IMPOSSIBLE = NumberControl(ControlStatus.IMPOSSIBLE, Source.AS_REPORTED, "no step was seen")


def numbers(*values: float | None, control: NumberControl | None = PASSED) -> list[Comparison]:
    """Claims of 12, next to what was measured."""
    found = []
    for number, value in enumerate(values, 1):
        one = measured(claim(number, HIT, f"method {number}"), value)
        found.append(replace(one, control=control if value is not None else None))
    return found


def ordered(*statuses: OrderingStatus, better: int = 1, claimed: float = 2.0) -> list[Ordering]:
    pair = (claim(better, HIT), claim(9, 10.0, "plain"))
    return [Ordering(*pair, claimed, 0.5, -1.0, 1.0, 3, status) for status in statuses]


HOLDS, FAILS = OrderingStatus.HOLDS, OrderingStatus.FAILS
SMALLER, UNDECIDED = OrderingStatus.SMALLER, OrderingStatus.UNDECIDED
UNMEASURED = OrderingStatus.UNMEASURED


@pytest.mark.parametrize(
    ("values", "statuses", "verdict"),
    [
        ((HIT,), (), Verdict.REPRODUCED),
        ((HIT, HIT), (HOLDS, HOLDS), Verdict.REPRODUCED),
        ((HIT, HIT), (HOLDS, SMALLER), Verdict.PARTLY),
        ((HIT, HIT), (HOLDS, UNDECIDED), Verdict.PARTLY),
        ((HIT, HIT), (UNMEASURED,), Verdict.PARTLY),
        ((HIT, MISS), (HOLDS,), Verdict.PARTLY),
        ((HIT, None), (), Verdict.PARTLY),
        ((MISS, MISS), (HOLDS,), Verdict.PARTLY),
        ((MISS, MISS), (UNDECIDED,), Verdict.NOT),
        ((MISS, None), (UNMEASURED,), Verdict.NOT),
        ((MISS,), (), Verdict.NOT),
        ((HIT, HIT), (FAILS,), Verdict.NOT),
        ((HIT, HIT), (FAILS, FAILS), Verdict.NOT),
        ((HIT, HIT), (FAILS, UNDECIDED), Verdict.NOT),
        ((HIT, HIT), (FAILS, UNMEASURED), Verdict.NOT),
        ((HIT, HIT), (FAILS, SMALLER), Verdict.PARTLY),
        ((HIT, HIT), (FAILS, HOLDS), Verdict.PARTLY),
        ((MISS, MISS), (FAILS, HOLDS), Verdict.PARTLY),
        ((MISS, MISS), (FAILS, SMALLER), Verdict.NOT),
    ],
)
def test_numbers_and_orderings_together(
    values: tuple[float | None, ...], statuses: tuple[OrderingStatus, ...], verdict: Verdict
) -> None:
    assert verdict_of(numbers(*values), ordered(*statuses), runs=True).verdict is verdict


@pytest.mark.parametrize(
    ("values", "statuses", "scale", "stand_in", "verdict"),
    [
        ((HIT,), (HOLDS,), 0.999, "", Verdict.PARTLY),
        ((HIT,), (), 1.0, "", Verdict.REPRODUCED),
        ((MISS,), (HOLDS,), 0.5, "", Verdict.PARTLY),
        ((HIT,), (FAILS,), 0.5, "", Verdict.PARTLY),
        ((MISS,), (FAILS,), 0.5, "", Verdict.INCONCLUSIVE),
        ((MISS,), (), 0.5, "", Verdict.INCONCLUSIVE),
        ((HIT,), (HOLDS,), 1.0, "noise", Verdict.INCONCLUSIVE),
        ((MISS,), (FAILS,), 1.0, "noise", Verdict.INCONCLUSIVE),
    ],
)
def test_another_setting_than_that_of_the_paper(
    values: tuple[float, ...],
    statuses: tuple[OrderingStatus, ...],
    scale: float,
    stand_in: str,
    verdict: Verdict,
) -> None:
    judgement = verdict_of(
        numbers(*values), ordered(*statuses), runs=True, scale=scale, stand_in=stand_in
    )
    assert judgement.verdict is verdict
    nothing = values == (MISS,) and HOLDS not in statuses
    other = scale < 1 or bool(stand_in)
    assert judgement.reason.startswith("No claim holds, but") is (nothing and other)


def test_without_a_program_a_claim_or_a_measure_nothing_is_judged() -> None:
    for judgement, words in (
        (verdict_of(numbers(HIT), runs=False), "No version of the code runs"),
        (verdict_of([], runs=True), "states no number"),
        (verdict_of(numbers(None, None), runs=True), "No claim was measured."),
    ):
        assert judgement.verdict is Verdict.INCONCLUSIVE
        assert words in judgement.reason
    refused = unmeasured(numbers(HIT)[0], "Not measured: as good.", replace(PASSED, status=SAME))
    judgement = verdict_of([refused, *numbers(None)], runs=True)
    assert judgement.reason == "No claim was measured. C1: Not measured: as good."
    assert (judgement.gap, judgement.gap_executed) == (1.0, None)
    assert verdict_of([], runs=True).gap is None


def test_an_ordering_of_a_number_in_doubt_does_not_count() -> None:
    """On either side; the other number misses."""
    first, second = numbers(HIT, MISS)
    doubtful = [replace(first, control=IMPOSSIBLE), second]
    assert verdict_of(doubtful, ordered(HOLDS), runs=True).verdict is Verdict.INCONCLUSIVE
    assert verdict_of(doubtful, ordered(HOLDS, better=2), runs=True).verdict is Verdict.PARTLY
    worse = [replace(one, better=one.worse, worse=one.better) for one in ordered(HOLDS)]
    assert verdict_of(doubtful, worse, runs=True).verdict is Verdict.INCONCLUSIVE


def test_what_agrees_without_a_control_is_inconclusive_where_nothing_else_holds() -> None:
    doubtful = numbers(HIT, control=IMPOSSIBLE)
    assert verdict_of(doubtful, runs=True).verdict is Verdict.INCONCLUSIVE
    assert "1 number agree with the paper, but no control" not in (
        verdict_of([*doubtful, *numbers(HIT)], runs=True).reason
    )
    assert verdict_of([*doubtful, *numbers(HIT)], runs=True).verdict is Verdict.PARTLY
    missed = numbers(MISS, control=IMPOSSIBLE)
    assert verdict_of(missed, runs=True).verdict is Verdict.NOT
    assert verdict_of([*missed, *numbers(MISS)], runs=True).verdict is Verdict.NOT
    assert verdict_of([*doubtful, *missed], runs=True).reason.startswith("1 of 2 numbers agree")


def test_a_number_that_only_the_program_says_is_not_reproduced_by_that() -> None:
    reported = NumberControl(ControlStatus.PASSED, Source.AS_REPORTED, should_recompute=True)
    only = numbers(HIT, control=reported)
    judgement = verdict_of([*numbers(HIT), *only], runs=True)
    assert judgement.verdict is Verdict.PARTLY
    unseen = replace(reported, should_recompute=False)
    assert verdict_of(numbers(HIT, control=unseen), runs=True).verdict is Verdict.REPRODUCED
    assert verdict_of(numbers(HIT, control=None), runs=True).verdict is Verdict.REPRODUCED


def test_the_largest_claim_that_fails_is_named() -> None:
    small = ordered(FAILS, better=1, claimed=1.0)
    large = [
        replace(one, better=claim(2, HIT, "large")) for one in ordered(FAILS, better=2, claimed=5.0)
    ]
    judgement = verdict_of(numbers(HIT, HIT), [*small, *large, *small], runs=True)
    assert "Not so: large better than plain by 5" in judgement.reason
    assert "measured 0.5 [-1, 1] over 3 seeds" in judgement.reason


def test_a_verdict_says_what_was_not_decided() -> None:
    open_ones = [
        *ordered(UNDECIDED),
        *(replace(one, n=1) for one in ordered(UNDECIDED)),
        *(replace(one, n=2) for one in ordered(UNDECIDED)),
        *ordered(UNMEASURED),
    ]
    compared = [*numbers(HIT, None), *numbers(HIT, control=IMPOSSIBLE)]
    assert verdict_of(compared, open_ones, runs=True).reason == (
        "0 of 4 orderings and 1 of 3 numbers hold; not measured: 1 number, agrees without a "
        "control that passed: 1 number, too noisy to decide: 2 orderings, too few runs to decide: "
        "1 ordering."
    )
    assert verdict_of(numbers(HIT, MISS), runs=True).reason == "1 of 2 numbers hold."


@pytest.mark.parametrize(
    ("count", "statuses", "words"),
    [
        (1, (), "The number holds."),
        (2, (), "All 2 numbers hold."),
        (1, (HOLDS,), "All 1 number and 1 ordering hold."),
        (2, (HOLDS, HOLDS), "All 2 numbers and 2 orderings hold."),
    ],
)
def test_everything_holds(count: int, statuses: tuple[OrderingStatus, ...], words: str) -> None:
    judgement = verdict_of(numbers(*[HIT] * count), ordered(*statuses), runs=True)
    assert (judgement.verdict, judgement.reason) == (Verdict.REPRODUCED, words)


def test_exit_codes() -> None:
    assert {one.value: int(one.exit_code) for one in Verdict} == {
        "reproduced": 0,
        "partly reproduced": 1,
        "not reproduced": 1,
        "inconclusive": 3,
    }
