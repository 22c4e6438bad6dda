"""Learning rates that a model can be trained at: what a range test says, and rates to try."""

import math
from collections.abc import Sequence
from itertools import dropwhile, takewhile

from reenact.faults import Evidence

FALL = 0.05
"""Share of the whole fall of the loss that must be done before a rate counts as learning."""
LEAST_FALL = 0.1
"""Share of the first loss that must go for the test to tell anything."""
RISE = 0.3
"""Share of the whole fall that the loss may climb back before a rate counts as too large."""


def rates_below(rate: float) -> tuple[float, ...]:
    """Rates to try in place of one that is too high."""
    return tuple(float(f"{rate / times:.2g}") for times in (10, 30, 100))


def rates_within(low: float, high: float) -> tuple[float, ...]:
    """Rates to try: the middle of the range, as a power of ten where one lies in it, then
    around it.
    """
    middle = math.sqrt(low * high)
    good = 10.0 ** round(math.log10(middle))
    good = good if low <= good <= high else float(f"{middle:.1g}")
    return tuple(rate for rate in (good, good / 10, good * 10) if low <= rate <= high) or (middle,)


def can_learn(evidence: Evidence) -> bool:
    """Whether most of the loss of one batch went when it was trained alone."""
    alone = evidence.experiments.one_batch
    return alone is not None and bool(alone.losses) and alone.losses[-1] < 0.3 * alone.losses[0]


def usable_range(
    rates: Sequence[float], losses: Sequence[float], least: float = LEAST_FALL
) -> tuple[float, float] | None:
    """Smallest rate at which the loss falls and largest before it rises again; none when it
    never falls.
    """
    known = [pair for pair in zip(rates, _smoothed(losses), strict=True) if math.isfinite(pair[1])]
    if len(known) < 5:
        return None
    first = known[0][1]
    best = min(loss for _, loss in known)
    fall = first - best
    if fall <= least * abs(first):
        return None
    low = next(rate for rate, loss in known if first - loss >= FALL * fall)
    behind = dropwhile(
        lambda pair: pair[1] > best,
        known,
    )
    return low, list(
        takewhile(
            lambda pair: pair[1] - best <= RISE * fall,
            behind,
        )
    )[-1][0]


def _smoothed(losses: Sequence[float], keep: float = 0.6) -> list[float]:
    """Exponential mean with the start corrected; from the first loss that is no number on,
    infinite.
    """
    smooth: list[float] = []
    mean, weight = 0.0, 0.0
    for loss in takewhile(math.isfinite, losses):
        mean = keep * mean + (1 - keep) * loss
        weight = keep * weight + (1 - keep)
        smooth.append(mean / weight)
    return smooth + [math.inf] * (len(losses) - len(smooth))
