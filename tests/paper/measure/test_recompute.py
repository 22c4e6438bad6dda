"""A reported number among those that follow from predictions."""

from __future__ import annotations

from typing import Any

import pytest

from reenact.paper.measure.control import Source
from reenact.paper.measure.recompute import Pass, family_of, recomputed


def passes(*values: float, guessed: bool = False, series: str = "1/0/0") -> list[Pass]:
    return [Pass(series=series, guessed=guessed, of={"accuracy": (value, 0.5)}) for value in values]


@pytest.mark.parametrize(
    ("metric", "unit", "value", "first"),
    [
        ("test accuracy", "%", 91.0, "accuracy"),
        ("Accuracy", "", 0.9, "accuracy"),
        ("mean squared error", "", 0.01, "mse"),
        ("RMSE", "", 0.1, "rmse"),
        ("explained variance", "%", 95.0, "r2"),
        ("perplexity", "", 12.0, "perplexity"),
        ("test error", "%", 8.0, "error"),
        ("test error", "", 3.7, ""),
        ("test error", "", 1.0, "error"),
        ("test error", "", 1.01, ""),
        ("test_accuracy", "", 3.7, "accuracy"),
        ("word error rate", "%", 8.0, ""),
        ("standard deviation of test accuracy", "%", 1.8, ""),
        ("recall@10", "%", 40.0, ""),
        ("FID", "", 12.0, ""),
        ("return", "", 200.0, ""),
    ],
)
def test_families(claim: Any, metric: str, unit: str, value: float, first: str) -> None:
    family = family_of(claim(metric=metric, unit=unit, value=value))
    assert (family[0] if family else "") == first


@pytest.mark.parametrize(
    ("reported", "source"),
    [
        (0.912345, Source.RECOMPUTED),
        (91.2345, Source.RECOMPUTED),
        (0.912345 * 1.0009, Source.RECOMPUTED),
        (0.912345 * 1.0012, Source.NOT_CONFIRMED),
        (0.91, Source.RECOMPUTED),
        (0.97, Source.NOT_CONFIRMED),
    ],
)
def test_one_evaluation(reported: float, source: Source) -> None:
    """A rounded number is the same, a number more than a thousandth away is not."""
    assert recomputed(reported, ["accuracy"], passes(0.4, 0.912345, 0.7)).source is source


def test_means_over_groups_and_over_the_last_ones() -> None:
    seen = passes(0.501234, 0.601234, 0.801234, 0.901234)
    for mean in (0.551234, 0.851234, 0.701234, 0.767900666):
        assert recomputed(mean, ["accuracy"], seen).source is Source.RECOMPUTED
    assert recomputed(0.65123, ["accuracy"], seen).source is Source.NOT_CONFIRMED, (
        "none of both groups"
    )
    apart = [*passes(0.501234), *passes(0.601234, series="2/0/0")]
    assert recomputed(0.551234, ["accuracy"], apart).source is Source.NOT_CONFIRMED, (
        "of different kinds"
    )


def test_guessed_labels_confirm_and_refuse_nothing() -> None:
    seen = passes(0.912345, guessed=True)
    assert recomputed(0.912345, ["accuracy"], seen).source is Source.RECOMPUTED
    assert recomputed(0.5, ["accuracy"], seen).source is Source.AS_REPORTED


def test_without_predictions_or_family_it_is_as_reported() -> None:
    assert recomputed(0.9, ["accuracy"], []).source is Source.AS_REPORTED
    assert recomputed(0.9, (), passes(0.5)).source is Source.AS_REPORTED
    assert recomputed(0.9, ["mse"], passes(0.5)).source is Source.AS_REPORTED


def test_the_constant_answer_is_that_of_the_same_labels() -> None:
    assert recomputed(0.912345, ["accuracy"], passes(0.912345)).constant == 0.5
    assert recomputed(91.2345, ["accuracy"], passes(0.912345)).constant == 50.0


@pytest.mark.parametrize(
    ("metric", "quantity"),
    [
        ("accuracy", "accuracy"),
        ("error rate", "error"),
        ("rmse", "rmse"),
        ("mse", "mse"),
        ("mean absolute error", "mae"),
        ("r2", "r2"),
        ("cross-entropy", "nll"),
        ("cross-entropy", "nll of probabilities"),
        ("log loss", "bits"),
        ("perplexity", "perplexity"),
        ("auroc", "auc"),
        ("precision", "precision"),
        ("brier", "brier"),
        ("accuracy", "balanced accuracy"),
        ("accuracy", "top-5 accuracy"),
        ("error rate", "top-5 error"),
        ("rmse", "nrmse"),
        ("mse", "half mse"),
        ("mse", "sse"),
        ("mse", "nmse"),
        ("explained variance", "explained variance"),
        ("cross-entropy", "bits of probabilities"),
        ("perplexity", "perplexity of probabilities"),
        ("f1", "f1"),
        ("f1", "macro f1"),
        ("f1", "weighted f1"),
        ("f1", "accuracy"),
        ("recall", "recall"),
        ("recall", "balanced accuracy"),
    ],
)
def test_a_number_may_be_any_quantity_of_its_family(claim: Any, metric: str, quantity: str) -> None:
    """Papers name a family; which of its quantities a program reports is seen in the numbers
    alone.
    """
    family = family_of(claim(metric=metric, unit="%", value=9.0))
    seen = [Pass(series="1/0/0", guessed=False, of={quantity: (0.612345, 0.5)})]
    assert recomputed(0.612345, family, seen).source is Source.RECOMPUTED
    assert recomputed(0.712345, family, seen).source is Source.NOT_CONFIRMED


def test_without_a_constant_answer_none_is_stated() -> None:
    seen = [Pass(series="1/0/0", guessed=False, of={"accuracy": (0.912345, None)})]
    assert recomputed(0.912345, ["accuracy"], seen).source is Source.RECOMPUTED
    assert recomputed(0.912345, ["accuracy"], seen).constant is None


@pytest.mark.parametrize(
    ("value", "source"), [(0.91499, Source.RECOMPUTED), (0.91501, Source.NOT_CONFIRMED)]
)
def test_half_of_the_last_digit_is_rounding(value: float, source: Source) -> None:
    assert recomputed(0.91, ["accuracy"], passes(value)).source is source


@pytest.mark.parametrize(
    ("reported", "value", "source"),
    [
        (0.9, 0.9089, Source.RECOMPUTED),
        (0.9, 0.9091, Source.NOT_CONFIRMED),
        (0.9, 0.8911, Source.RECOMPUTED),
        (0.9, 0.8909, Source.NOT_CONFIRMED),
        (-0.9, 0.9089, Source.RECOMPUTED),
        (1e-7, 1.0009e-7, Source.RECOMPUTED),
        (1e-7, 1.0011e-7, Source.NOT_CONFIRMED),
        (1.0, 1.0099, Source.RECOMPUTED),
        (1.0, 1.0101, Source.NOT_CONFIRMED),
    ],
)
def test_no_rounding_explains_more_than_a_hundredth(
    reported: float, value: float, source: Source
) -> None:
    """Of a number with an exponent no digits are counted."""
    assert recomputed(reported, ["accuracy"], passes(value)).source is source


def test_a_quantity_may_be_reported_with_the_other_sign() -> None:
    found = recomputed(-0.912345, ["accuracy"], passes(0.912345))
    assert (found.source, found.constant) == (Source.RECOMPUTED, -0.5)
    assert recomputed(-91.2345, ["accuracy"], passes(0.912345)).source is Source.NOT_CONFIRMED


def test_one_kind_of_evaluation_that_was_not_guessed_can_refuse() -> None:
    guessed, seen = passes(0.7, guessed=True), passes(0.8, series="2/0/0")
    for both in ([*guessed, *seen], [*seen, *guessed]):
        assert recomputed(0.5, ["accuracy"], both).source is Source.NOT_CONFIRMED
    assert recomputed(0.5, ["accuracy", "error"], guessed).source is Source.AS_REPORTED
    mixed = [*passes(0.6, guessed=True), *passes(0.8)]
    assert recomputed(0.7, ["accuracy"], mixed).source is Source.NOT_CONFIRMED, "of different kinds"


def test_the_first_quantity_of_a_family_that_fits_gives_the_constant_answer() -> None:
    of = {"mse": (0.25, 4.0), "half mse": (0.125, 2.0), "sse": (9.0, None)}
    seen = [Pass(series="1/0/0", guessed=False, of=of)]
    assert [
        recomputed(number, ["mse", "half mse", "sse"], seen).constant
        for number in (0.25, 0.125, 9.0)
    ] == [4.0, 2.0, None]
    assert recomputed(9.5, ["mse", "half mse", "sse"], seen).constant is None


def test_means_take_the_constant_answers_along() -> None:
    values = [(0.1, 0.5), (0.3, 0.7), (0.61, 0.2), (0.65, 0.4)]
    seen = [Pass(series="1", guessed=False, of={"accuracy": pair}) for pair in values]
    for mean, constant in ((0.2, 0.6), (0.63, 0.3), (0.415, 0.45), (0.52, 1.3 / 3)):
        found = recomputed(mean + 1e-9, ["accuracy"], seen)
        assert found.source is Source.RECOMPUTED
        assert found.constant == pytest.approx(constant)


@pytest.mark.parametrize(
    ("value", "source"), [(0.9e-12, Source.RECOMPUTED), (1.1e-12, Source.NOT_CONFIRMED)]
)
def test_nought_is_the_same_as_next_to_nothing(value: float, source: Source) -> None:
    assert recomputed(0.0, ["accuracy"], passes(value)).source is source


@pytest.mark.parametrize(("last", "source"), [(50, Source.RECOMPUTED), (51, Source.NOT_CONFIRMED)])
def test_a_mean_may_be_over_the_last_fifty(last: int, source: Source) -> None:
    # Each is a third of the one before, so that the first of the last ones decides their mean.
    values = [3.0 ** (60 - number) for number in range(61)]
    assert recomputed(sum(values[-last:]) / last, ["mse"], other(values)).source is source


@pytest.mark.parametrize(("pairs", "source"), [(64, Source.RECOMPUTED), (65, Source.NOT_CONFIRMED)])
def test_a_mean_may_be_over_one_of_64_groups(pairs: int, source: Source) -> None:
    # The other evaluations are far away: no mean of them comes near that of the first two.
    values = [1000.25, 2000.5, *(1e6 * 3**number for number in range(2 * pairs - 2))]
    assert recomputed(1500.375, ["mse"], other(values)).source is source


def other(values: list[float]) -> list[Pass]:
    return [Pass(series="1/0/0", guessed=False, of={"mse": (value, None)}) for value in values]
