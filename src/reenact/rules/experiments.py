"""Small experiments on the model itself: can it overfit one batch, and which learning rates work?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reenact.probe.experiment import ExperimentRecord

FALL = 0.05
"""Share of the whole fall of the loss that must be done before a rate counts as learning."""
LEAST_FALL = 0.1
"""Share of the first loss that must go for the test to tell anything."""
RISE = 0.3
"""Share of the whole fall that the loss may climb back before a rate counts as too large."""


@dataclass(frozen=True, slots=True)
class OneBatch:
    """Training on one batch over and over."""

    steps: int
    losses: tuple[float, ...]
    """Loss before each step."""
    accuracy: float | None
    """On that batch at the end; none for a regression."""
    zeroed_losses: tuple[float, ...] = ()
    """The same with inputs set to zero; empty when it was not done."""


@dataclass(frozen=True, slots=True)
class LearningRateRange:
    """A few steps at each of many learning rates, from the first weights on (after Smith 2017)."""

    rates: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Smallest rate at which the loss falls and largest before it rises; none when it never falls."""
        return usable_range(self.rates, self.losses)


@dataclass(frozen=True, slots=True)
class Experiments:
    """What was tried; none where it was not, or could not be."""

    one_batch: OneBatch | None = None
    learning_rates: LearningRateRange | None = None
    missing: tuple[str, ...] = ()
    """Why an experiment could not be done, each in a sentence."""


def experiments_from(record: ExperimentRecord) -> Experiments:
    """What a process measured, as rules read it."""
    one_batch, learning_rates = None, None
    if record.losses:
        one_batch = OneBatch(len(record.losses), record.losses, record.accuracy, record.zeroed_losses)
    if record.rates:
        learning_rates = LearningRateRange(record.rates, record.rate_losses)
    return Experiments(one_batch, learning_rates, record.missing)


def usable_range(rates: Sequence[float], losses: Sequence[float]) -> tuple[float, float] | None:
    """Smallest rate at which the loss falls and largest before it rises again; none when it never falls."""
    smooth = _smoothed(losses)
    known = [(rate, loss) for rate, loss in zip(rates, smooth, strict=True) if math.isfinite(loss)]
    if len(known) < 5:
        return None
    first = known[0][1]
    lowest = min(range(len(known)), key=lambda number: known[number][1])
    fall = first - known[lowest][1]
    if fall <= LEAST_FALL * abs(first):
        return None
    low = next(rate for rate, loss in known if first - loss >= FALL * fall)
    high = known[-1][0]
    for rate, loss in known[lowest:]:
        if loss - known[lowest][1] > RISE * fall:
            break
        high = rate
    return low, high


def _smoothed(losses: Sequence[float], keep: float = 0.6) -> list[float]:
    """Exponential mean with the start corrected; from the first loss that is no number on, infinite."""
    found: list[float] = []
    mean, weight = 0.0, 0.0
    broken = False
    for loss in losses:
        broken = broken or not math.isfinite(loss)
        if broken:
            found.append(math.inf)
            continue
        mean = keep * mean + (1 - keep) * loss
        weight = keep * weight + (1 - keep)
        found.append(mean / weight)
    return found
