"""What the user of a repair may ask for."""

from __future__ import annotations

import os
from dataclasses import dataclass

from reenact.errors import InputError
from reenact.trials.choose import NAMES
from reenact.types import JsonValue

LEAST_SEEDS = 6
"""Below this no paired test of ranks can tell anything."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Every option has a default."""

    strategy: str = "guided"
    budget: str = "20x"
    """`20x`: that many times the CPU time of one training; `90s`, `5m`: wall time; `40t`: trainings."""
    metric: str = ""
    """The metric that judges; empty: chosen from what the program tells."""
    seeds: int = 10
    """Fresh seeds that judge the final change."""
    select: tuple[str, ...] = ()
    """Rules whose findings may be repaired; empty: all stable ones."""
    ignore: tuple[str, ...] = ()
    space: str = "own"
    """Values that are searched: `own`, or `study` for the published search space."""
    python: str = ""
    """Interpreter; empty: the one that runs reenact."""
    workers: int = 0
    """Trainings at once; 0: one per core."""
    executor: str = "process"
    """Where trainings run: `process`, `ensemble`, `ray`, or the address of a Ray cluster."""
    chance: int = 0
    """Seed of the search itself: another number gives another search."""
    samples: int = 5
    """Answers that the strategy `llm` asks for."""
    temperature: float | None = None
    """Of these answers; none: the model's own."""
    training_time: float | None = None
    """Seconds that one training may take."""

    def __post_init__(self) -> None:
        if self.seeds < LEAST_SEEDS:
            raise InputError(
                f"A verdict needs at least {LEAST_SEEDS} fresh seeds. Received: seeds={self.seeds}."
            )

        if self.executor not in NAMES and ":" not in self.executor:
            raise InputError(
                f"Trainings run by {', '.join(NAMES)}, or on the address of a Ray cluster."
                f" Received: executor={self.executor!r}."
            )

    @property
    def at_once(self) -> int:
        return self.workers or os.cpu_count() or 1

    def to_json(self) -> dict[str, JsonValue]:
        """What a journal compares to tell one repair from another."""
        return {
            "strategy": self.strategy,
            "budget": self.budget,
            "metric": self.metric,
            "seeds": self.seeds,
            "select": list(self.select),
            "ignore": list(self.ignore),
            "space": self.space,
            "python": self.python,
            "chance": self.chance,
            "samples": self.samples,
            "temperature": self.temperature,
        }
