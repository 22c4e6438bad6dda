"""What the user of a diagnosis may ask for."""

from __future__ import annotations

from dataclasses import dataclass

from reenact.diagnosis.depth import Depth
from reenact.types import JsonValue

THRESHOLD = 0.45
"""Nearly as likely guilty as not: the lowest plateau of the curve above which most are."""


@dataclass(frozen=True, slots=True)
class DiagnoseOptions:
    """Every option has a default."""

    depth: Depth = Depth.QUICK
    select: tuple[str, ...] = ()
    """Rules to use: codes, prefixes, names, families; empty: all stable ones."""
    ignore: tuple[str, ...] = ()
    """Rules to leave out."""
    budget: str = ""
    """For interventions: a number of trainings or a time; empty: that of the depth."""
    threshold: float = THRESHOLD
    """Confidence from which on a suspect is accused."""
    metric: str = ""
    """The metric that judges a change; empty: chosen from what the program tells."""
    python: str = ""
    """Interpreter; empty: the one that runs reenact."""
    workers: int = 0
    """Trainings at once; 0: one per core."""
    learned: bool = False
    """Ask the learned detector too."""
    samples: int = 5
    """How often a model is asked, when there is one."""
    training_time: float | None = None
    """Seconds that one training may take."""

    def to_json(self) -> dict[str, JsonValue]:
        """What a journal compares to tell one diagnosis from another."""
        return {
            "depth": self.depth.value,
            "select": list(self.select),
            "ignore": list(self.ignore),
            "budget": self.budget,
            "threshold": self.threshold,
            "metric": self.metric,
            "python": self.python,
            "learned": self.learned,
            "samples": self.samples,
        }
