"""What a metric can come to: the least value of a loss's formula, and the score of a constant
answer.

A significant difference is not an improvement by itself. A cross-entropy that falls below zero is
computed from something else than probabilities; an accuracy that does not pass the most frequent
class has learned nothing; a program that crashed before and ends now has no earlier result to be
better than.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reenact.trials.metric import (
    ERRORS,
    LEARNS,
    LOSS_FALL,
    LOSSES,
    RATES,
    Measure,
    kind_of,
)
from reenact.trials.statistics import ALPHA, signed_rank_p

POWERS = {
    "mae": 1,
    "mean_absolute_error": 1,
    "rmse": 1,
    "root_mean_squared_error": 1,
    "mse": 2,
    "mean_squared_error": 2,
}
"""Of the distance between label and guess that an error is the mean of."""
ACCURACIES = ("accuracy", "acc", "binary_accuracy")
COEFFICIENTS = ("r2", "r2_score")
COMPUTED = ("keras", "probe")
"""Sources whose losses and errors are means over the very labels that were seen. What a program
prints may be a sum over batches, rounded, or in other units.
"""
ROUNDING = 1e-6
"""A loss of zero may come out so far below it."""


@dataclass(frozen=True, slots=True)
class MetricBounds:
    """What the watched run reports the metrics; none: not known."""

    loss_floor: float | None = None
    """The least value of the formula of the loss; minus infinity for one that is known to have
    none.
    """
    constant_loss: float | None = None
    """The loss of the best answer that ignores the inputs."""
    majority: float | None = None
    """Accuracy of always naming the most frequent class."""
    label_spread: float | None = None
    """Standard deviation of the labels, where they are quantities."""

    def least(self, measure: Measure) -> float | None:
        """The least value that a metric can have, where smaller is better."""
        kind = kind_of(measure.name)
        if kind in LOSSES:
            return self.loss_floor
        errors = kind in ERRORS and kind not in COEFFICIENTS
        return 0.0 if errors or kind in RATES else None

    def constant(self, measure: Measure) -> float | None:
        """What the best answer that ignores the inputs scores."""
        kind = kind_of(measure.name)
        if measure.name == LOSS_FALL:
            return LEARNS
        if kind in ACCURACIES:
            return self.majority
        if kind == "auc":
            return 0.5
        if kind in COEFFICIENTS:
            return 0.0
        if measure.source not in COMPUTED:
            return None
        if kind in LOSSES:
            return self.constant_loss
        if kind in POWERS and self.label_spread:
            # The best constant has a mean absolute error of at most one standard deviation.
            return math.pow(self.label_spread, POWERS[kind])
        return None


def shortfall(
    measure: Measure,
    before: Sequence[float],
    after: Sequence[float],
    bounds: MetricBounds,
    *,
    alpha: float = ALPHA,
) -> str:
    """Why a significant difference is not an improvement, in words; empty where it is one.

    `before` and `after` are oriented, larger is better, -inf for a failed training; `alpha` is the
    level that the comparison had.
    """
    sign = 1 if measure.larger_is_better else -1
    ends = [sign * value for value in after if math.isfinite(value)]
    impossible = _impossible(measure, ends, bounds) or _same_for_all(measure, before, ends)
    if impossible:
        return impossible
    constant = bounds.constant(measure)
    if constant is None:
        return _only_ends(before, after, alpha)
    if signed_rank_p([value - sign * constant for value in after]) >= ALPHA:
        return (
            f"{measure.name} is not significantly better than {constant:.3g}, which "
            f"{_answer(measure)}"
        )
    return ""


def _impossible(measure: Measure, ends: Sequence[float], bounds: MetricBounds) -> str:
    """Where the metric left the range in which a better value means a better model."""
    if not ends:
        return ""
    if measure.name == LOSS_FALL and bounds.loss_floor != -math.inf and max(ends) > 1 + ROUNDING:
        return "the training loss ends below zero, so that its fall says nothing"
    lowest = min(ends)
    least = bounds.least(measure)
    if least is not None and lowest < least - ROUNDING:
        return (
            f"{measure.name} {lowest:.4g} is below {least:g}, the least that its formula can reach"
        )
    if measure.is_loss and least is None and lowest < -ROUNDING:
        return (
            f"{measure.name} {lowest:.4g} is below zero, and the least that its formula can reach "
            f"is unknown"
        )
    return ""


def _same_for_all(
    measure: Measure,
    before: Sequence[float],
    ends: Sequence[float],
) -> str:
    """A computed loss that is the same for every seed does not depend on the training; where the
    program unchanged gives one and the same too, its seeds change nothing and that says nothing.
    """
    computed = measure.is_loss and measure.source in COMPUTED
    steady = len(set(before)) == 1 and math.isfinite(before[0])
    if not computed or steady or len(ends) < 2 or len(set(ends)) > 1:
        return ""
    return (
        f"{measure.name} {ends[0]:.4g} is the same for every seed: it does not depend on the "
        f"training"
    )


def _only_ends(
    before: Sequence[float],
    after: Sequence[float],
    alpha: float,
) -> str:
    """Where the difference rests on trainings that failed before, and no constant answer is
    known.
    """
    known = [new - old for old, new in zip(before, after, strict=True) if math.isfinite(old)]
    if len(known) == len(before) or (known and signed_rank_p(known) < alpha):
        return ""
    return "it trains where it failed before, and what a constant answer scores is unknown"


def _answer(measure: Measure) -> str:
    """What scores as much without a look at the inputs."""
    kind = kind_of(measure.name)
    if measure.name == LOSS_FALL:
        return "a training that learns nothing may reach"
    if kind in ACCURACIES:
        return "always naming the most frequent class gives"
    return "a constant answer gives"
