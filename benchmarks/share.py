"""A share of programs, or a mean over them, with its interval."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from benchmarks.scorecard import Figure

_Z = 1.959964
"""Of the normal distribution, for 95 %."""
_DRAWS = 2000


@dataclass(frozen=True, slots=True)
class Share:
    """So many of so many, with the 95 % interval of Wilson (1927)."""

    part: int
    whole: int

    @property
    def value(self) -> float:
        return self.part / self.whole if self.whole else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """What the share of all such programs may be."""
        if not self.whole:
            return 0.0, 1.0
        n, p, z2 = self.whole, self.value, _Z**2
        middle = (p + z2 / (2 * n)) / (1 + z2 / n)
        reach = _Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
        return max(0.0, middle - reach), min(1.0, middle + reach)

    def figure(self, name: str) -> Figure:
        """With its interval and counts."""
        low, high = self.interval if self.whole else (None, None)
        return Figure(name, self.value if self.whole else None, low, high, self.part, self.whole)

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.value:.2f} [{low:.2f}, {high:.2f}] ({self.part} of {self.whole})"
            if self.whole
            else "-"
        )


def mean_figure(
    name: str,
    values: Sequence[float],
    middle: Callable[[Sequence[float]], float] = fmean,
) -> Figure:
    """A mean or median over programs with its 95 % interval by resampling them (percentiles)."""
    if not values:
        return Figure(name, None)
    chance = random.Random(0)  # noqa: S311 - a draw that everybody can repeat
    drawn = sorted(middle(chance.choices(values, k=len(values))) for _ in range(_DRAWS))
    return Figure(name, middle(values), drawn[_DRAWS // 40], drawn[-1 - _DRAWS // 40])
