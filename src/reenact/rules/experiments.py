"""Small experiments on the model itself: can it learn one batch, and how large a step does it bear?"""

from __future__ import annotations

from dataclasses import dataclass

from reenact.probe.experiment import ExperimentRecord


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
        from reenact.rules.lr_range import usable_range

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
