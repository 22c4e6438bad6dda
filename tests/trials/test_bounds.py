"""What is an improvement, and what only looks like one: every bound on both sides."""

from __future__ import annotations

import math

import pytest

from reenact.trials.bounds import MetricBounds, shortfall
from reenact.trials.metric import LEARNING, Measure
from reenact.trials.statistics import ALPHA

FAILED = (-math.inf,) * 6
ACCURACY = Measure("test_accuracy", "output")
LOSS = Measure("val_loss", "keras", larger_is_better=False, is_loss=True)
PRINTED_LOSS = Measure("val_loss", "output", larger_is_better=False, is_loss=True)
KNOWN_LOSS = MetricBounds(loss_floor=0.0, constant_loss=0.69)


def around(value: float) -> tuple[float, ...]:
    """Six seeds that lie a little apart."""
    return tuple(value + shift * 1e-4 for shift in (-3, -2, -1, 1, 2, 3))


def losses(value: float) -> tuple[float, ...]:
    """The same of a metric that is better when smaller, oriented."""
    return tuple(-one for one in around(value))


def test_an_accuracy_must_pass_the_most_frequent_class() -> None:
    bounds = MetricBounds(majority=0.5)
    assert shortfall(ACCURACY, around(0.2), around(0.51), bounds) == ""
    assert shortfall(ACCURACY, around(0.2), (0.5,) * 6, bounds) != ""
    below = shortfall(ACCURACY, around(0.2), around(0.49), bounds)
    assert below.startswith(
        "test_accuracy is not significantly better than 0.5, which always naming"
    )


@pytest.mark.parametrize(
    ("lucky", "enough"),
    [((0.9, 0.9, 0.9, 0.9, 0.9, 0.4), True), ((0.9, 0.9, 0.9, 0.9, 0.4, 0.4), False)],
)
def test_most_seeds_must_pass_it_not_their_mean(lucky: tuple[float, ...], enough: bool) -> None:
    """One of six below it by little is within what chance explains, two are not."""
    assert (shortfall(ACCURACY, FAILED, lucky, MetricBounds(majority=0.5)) == "") is enough


def test_cases_that_were_once_called_better() -> None:
    """Foreign programs that crashed before: accuracies of 0.017, 0.17 and 0.093, and a loss that is
    the same whatever is trained; and a cross-entropy that becomes more negative.
    """
    classes = MetricBounds(majority=0.1)
    assert shortfall(ACCURACY, FAILED, (0.1, 0, 0, 0, 0, 0), classes) != ""
    assert shortfall(ACCURACY, FAILED, (1.0, 0, 0, 0, 0, 0), classes) != ""
    assert shortfall(ACCURACY, FAILED, around(0.093), classes) != ""
    assert "unknown" in shortfall(ACCURACY, FAILED, around(0.093), MetricBounds())
    assert "does not depend" in shortfall(LOSS, FAILED, (-1.192e-07,) * 6, KNOWN_LOSS)
    assert "unknown" in shortfall(PRINTED_LOSS, FAILED, (-1.192e-07,) * 6, KNOWN_LOSS)
    fallen = shortfall(PRINTED_LOSS, losses(-674), losses(-849.5), KNOWN_LOSS)
    assert fallen == "val_loss -849.5 is below 0, the least that its formula can reach"


def test_one_seed_below_the_least_value_is_enough_but_not_by_rounding() -> None:
    at = (-0.3, -0.2, -0.1, -0.2, -0.3)
    assert shortfall(LOSS, losses(1), (*at, 5e-7), KNOWN_LOSS) == ""
    assert "below 0" in shortfall(LOSS, losses(1), (*at, 2e-6), KNOWN_LOSS)


@pytest.mark.parametrize(
    ("floor", "value", "enough"),
    [
        (-1.0, -0.99, True),
        (-1.0, -1.01, False),
        (-math.inf, -849.5, True),
        (None, 0.1, True),
        (None, -0.1, False),
    ],
)
def test_a_negative_loss_counts_by_what_its_formula_can_reach(
    floor: float | None, value: float, enough: bool
) -> None:
    bounds = MetricBounds(loss_floor=floor)
    assert (shortfall(PRINTED_LOSS, losses(value + 5), losses(value), bounds) == "") is enough


@pytest.mark.parametrize("name", ["val_mae", "rmse", "test_mse", "mape", "error", "perplexity"])
def test_errors_have_zero_as_their_least_value(name: str) -> None:
    error = Measure(name, "output", larger_is_better=False)
    assert shortfall(error, losses(2), losses(1), MetricBounds()) == ""
    assert "below 0" in shortfall(error, losses(2), losses(-1), MetricBounds())


def test_a_score_of_its_own_may_be_negative() -> None:
    """A coefficient of determination, a reward: nothing says what the least is."""
    reward = Measure("reward", "output")
    assert shortfall(reward, around(-200), around(-100), MetricBounds()) == ""
    assert "unknown" in shortfall(reward, FAILED, around(-100), MetricBounds())
    own = Measure("distance", "output", larger_is_better=False)
    assert shortfall(own, losses(3), losses(-2), MetricBounds()) == ""


@pytest.mark.parametrize(
    ("measure", "bounds", "constant"),
    [
        (ACCURACY, MetricBounds(majority=0.3), 0.3),
        (Measure("binary_accuracy"), MetricBounds(majority=0.3), 0.3),
        (Measure("test_auc"), MetricBounds(majority=0.3), 0.5),
        (Measure("r2"), MetricBounds(), 0.0),
        (Measure("val_r2_score"), MetricBounds(), 0.0),
        (Measure("f1"), MetricBounds(majority=0.3), None),
        (LOSS, KNOWN_LOSS, 0.69),
        (
            Measure("step_loss", "probe", larger_is_better=False, is_loss=True),
            KNOWN_LOSS,
            0.69,
        ),
        (PRINTED_LOSS, KNOWN_LOSS, None),
        (
            Measure("mse", "keras", larger_is_better=False),
            MetricBounds(label_spread=3.0),
            9.0,
        ),
        (
            Measure("rmse", "keras", larger_is_better=False),
            MetricBounds(label_spread=3.0),
            3.0,
        ),
        (
            Measure("mae", "keras", larger_is_better=False),
            MetricBounds(label_spread=3.0),
            3.0,
        ),
        (
            Measure("mae", "output", larger_is_better=False),
            MetricBounds(label_spread=3.0),
            None,
        ),
        (Measure("mae", "keras", larger_is_better=False), MetricBounds(), None),
        (
            Measure("mape", "keras", larger_is_better=False),
            MetricBounds(label_spread=3.0),
            None,
        ),
        (LEARNING, MetricBounds(), 0.1),
    ],
)
def test_what_a_constant_answer_scores(
    measure: Measure, bounds: MetricBounds, constant: float | None
) -> None:
    assert bounds.constant(measure) == constant


def test_a_computed_loss_must_pass_the_constant_answer() -> None:
    assert shortfall(LOSS, losses(2), losses(0.68), KNOWN_LOSS) == ""
    assert "0.69, which a constant answer gives" in shortfall(
        LOSS, losses(2), losses(0.70), KNOWN_LOSS
    )


def test_a_fall_of_the_loss_must_show_that_something_is_learned() -> None:
    assert shortfall(LEARNING, around(0.01), around(0.11), MetricBounds()) == ""
    assert "learns nothing" in shortfall(LEARNING, around(0.01), around(0.09), MetricBounds())


def test_a_loss_that_falls_by_more_than_itself_went_below_zero() -> None:
    assert shortfall(LEARNING, around(0.01), (0.9,) * 5 + (1.0,), MetricBounds()) == ""
    assert "below zero" in shortfall(LEARNING, around(0.01), (0.9,) * 5 + (1.01,), MetricBounds())
    free = MetricBounds(loss_floor=-math.inf)
    assert shortfall(LEARNING, around(0.01), around(1.5), free) == ""


def test_a_loss_that_is_the_same_for_every_seed_says_nothing() -> None:
    same = (-0.2,) * 6
    assert "every seed" in shortfall(LOSS, losses(2), same, KNOWN_LOSS)
    assert shortfall(LOSS, losses(2), (*same[:5], -0.2001), KNOWN_LOSS) == ""
    assert shortfall(LOSS, (-2.0,) * 6, same, KNOWN_LOSS) == "", (
        "seeds change nothing in this program"
    )
    assert shortfall(PRINTED_LOSS, losses(2), same, KNOWN_LOSS) == "", "printed numbers are rounded"
    assert shortfall(ACCURACY, around(0.5), (1.0,) * 6, MetricBounds(majority=0.5)) == ""
    only = (*(-math.inf,) * 5, -0.2)
    assert "every seed" not in shortfall(LOSS, losses(2), only, KNOWN_LOSS), (
        "one result is no repetition"
    )
    both = (*(-math.inf,) * 4, -0.2, -0.2)
    assert "every seed" in shortfall(LOSS, losses(2), both, KNOWN_LOSS)


def test_failures_alone_make_nothing_better() -> None:
    """Where no constant answer is known, the seeds that trained before must show it by
    themselves.
    """
    f1 = Measure("f1", "output")
    before, after = around(0.3), around(0.8)
    assert "failed before" in shortfall(f1, FAILED, after, MetricBounds())
    some = (-math.inf, *before[1:])
    assert shortfall(f1, some, after, MetricBounds()) == "", "five of five are better: p = 1/32"
    few = (-math.inf, -math.inf, *before[2:])
    assert "failed before" in shortfall(f1, few, after, MetricBounds()), "four of four: p = 1/16"
    assert shortfall(f1, before, after, MetricBounds()) == ""
    assert shortfall(f1, some, after, MetricBounds(), alpha=1 / 32 + 1e-9) == ""
    assert shortfall(f1, some, after, MetricBounds(), alpha=1 / 32) != ""
    assert ALPHA == 0.05


def test_a_crash_that_becomes_a_good_training_is_an_improvement() -> None:
    assert shortfall(ACCURACY, FAILED, around(0.9), MetricBounds(majority=0.5)) == ""
    assert shortfall(LOSS, FAILED, losses(0.2), KNOWN_LOSS) == ""


def test_nothing_that_ended_is_nothing_to_judge() -> None:
    assert shortfall(PRINTED_LOSS, losses(2), FAILED, KNOWN_LOSS) == ""
