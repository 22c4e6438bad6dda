"""The score of a version: the weight of what passes among what could be judged; the rest is told apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reenact.paper.criterion import Criterion, Judged, Value


@dataclass(frozen=True, slots=True)
class Score:
    """How much of a fingerprint the code shows, by weight."""

    passed: int
    failed: int
    unknown: int
    passes: int
    """How many criteria pass."""
    fails: int
    unknowns: int

    @property
    def share(self) -> float | None:
        """Weight of the passes among passes and fails; none when nothing could be judged."""
        judged = self.passed + self.failed
        return self.passed / judged if judged else None

    @property
    def least(self) -> float:
        """The share when everything that could not be judged is a fail."""
        total = self.passed + self.failed + self.unknown
        return self.passed / total if total else 0.0

    def __str__(self) -> str:
        told = "nothing could be judged" if self.share is None else f"{self.share:.0%} by weight"
        return f"{told}: {self.passes} pass, {self.fails} fail, {self.unknowns} cannot be judged"


def score(criteria: Sequence[Criterion], judged: Sequence[Judged]) -> Score:
    """The score; a criterion without a verdict could not be judged."""
    values = {one.criterion: one.value for one in judged}
    weights = dict.fromkeys(Value, 0)
    counts = dict.fromkeys(Value, 0)
    for one in criteria:
        value = values.get(one.id, Value.UNKNOWN)
        weights[value] += one.weight
        counts[value] += 1
    order = (Value.PASS, Value.FAIL, Value.UNKNOWN)
    return Score(*(weights[value] for value in order), *(counts[value] for value in order))
