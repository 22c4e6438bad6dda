"""A share of programs with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

_Z = 1.959964
"""Of the normal distribution, for 95 %."""


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

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.value:.2f} [{low:.2f}, {high:.2f}] ({self.part} of {self.whole})" if self.whole else "-"
        )
