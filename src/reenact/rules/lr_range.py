"""Read a learning-rate range test: between which rates does the loss fall?"""

from __future__ import annotations

import math
from collections.abc import Sequence

FALL = 0.05
"""Share of the whole fall of the loss that must be done before a rate counts as learning."""
LEAST_FALL = 0.1
"""Share of the first loss that must go for the test to tell anything."""
RISE = 0.3
"""Share of the whole fall that the loss may climb back before a rate counts as too large."""


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
