"""What trying a finding has shown: the change, its figures over seeds, and the result."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypedDict

from reenact.program.patch import Patch
from reenact.result import rounded


class InterventionResult(StrEnum):
    """What trying a finding has shown."""

    UNTRIED = "untried"
    CONFIRMED = "confirmed"
    """Changing it, alone or with others that are needed too, makes the training significantly
    better.
    """
    RUNS_NOW = "runs-now"
    """Changing it makes a significant difference that is no improvement: a program that failed
    trains now, to a result no better than a constant answer, or a loss falls below what its formula
    can reach.
    """
    UNDECIDED = "undecided"
    """It was changed, and too little was seen to say: what was believed before stands."""
    REFUTED = "refuted"
    """Changing it was shown to make no difference that matters, where a difference could have
    been seen.
    """


class ChangeEffectJson(TypedDict):
    """A change and what it came to, as JSON."""

    patch: Patch
    metric: str
    larger_is_better: bool
    before: tuple[float, ...]
    after: tuple[float, ...]
    p_value: float | None
    confirmed: bool
    shortfall: str | None
    detectable_gain: float | None
    on_top_of: str | None
    cpu_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEffect:
    """What a change came to: trained over seeds with it and without it."""

    patch: Patch
    metric: str
    """Name of the metric that judged."""
    larger_is_better: bool
    before: tuple[float, ...]
    """Values of the metric, turned so that larger is better; one a seed."""
    after: tuple[float, ...]
    p_value: float | None = None
    """Corrected for the number of changes that were verified; none where nothing was to be
    confirmed.
    """
    confirmed: bool = False
    cpu_seconds: float = 0.0
    on_top_of: str = ""
    """Changes that both trainings had; empty for none."""
    shortfall: str = ""
    """Why a significant difference is no improvement; empty where it is one, or not significant."""
    detectable: float | None = None
    """The smallest gain that would have been found four times out of five; none where that is
    not known.
    """

    def json_fields(self) -> ChangeEffectJson:
        return {
            "patch": self.patch,
            "metric": self.metric,
            "larger_is_better": self.larger_is_better,
            "before": self.before,
            "after": self.after,
            "p_value": self.p_value,
            "confirmed": self.confirmed,
            "shortfall": self.shortfall or None,
            "detectable_gain": self.detectable,
            "on_top_of": self.on_top_of or None,
            "cpu_seconds": rounded(self.cpu_seconds, 2),
        }
