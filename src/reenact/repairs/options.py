"""What the user of a repair may ask for."""

import os
from dataclasses import asdict, dataclass

from reenact.diagnosis.options import PACE
from reenact.errors import InputError
from reenact.trials.budget import TrainingBudget, training_budget
from reenact.trials.executor import check_name

USUAL_BUDGET = TrainingBudget(20, exact=False)
LEAST_SEEDS = 6
"""Below this no paired test of ranks can tell anything."""


@dataclass(frozen=True, slots=True)
class RepairOptions:
    """Every option has a default."""

    strategy: str = "guided"
    budget: str = ""
    """`20x`: that many times the CPU time of one training; `90s`, `5m`: wall time; `40t`: trainings; empty:
    20x, and more where a training takes less than 1.5 s."""
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
    """Where trainings run: `process`, `ray`, or the address of a Ray cluster."""
    data: tuple[str, ...] = ()
    """Paths that every node of a cluster has: they are not sent to it."""
    chance: int = 0
    """Seed of the search itself: another number gives another search."""
    samples: int = 5
    """Answers that the strategy `llm` asks for."""
    temperature: float | None = None
    """Of these answers; none: the model's own."""
    stand_in_data: bool = False
    """Train on made-up data where a well-known data set cannot be had."""
    training_time: float | None = None
    """Seconds that one training may take."""

    def __post_init__(self) -> None:
        if self.seeds < LEAST_SEEDS:
            raise InputError(
                f"A verdict needs at least {LEAST_SEEDS} fresh seeds. Received: seeds={self.seeds}."
            )
        check_name(self.executor)

    @property
    def allowed(self) -> TrainingBudget:
        """What the search may cost; raises InputError for a budget that says nothing."""
        return training_budget(self.budget) if self.budget else USUAL_BUDGET

    @property
    def search_name(self) -> str:
        """Of the search: the strategy and its random seed."""
        return f"{self.strategy}-{self.chance}"

    @property
    def at_once(self) -> int:
        return self.workers or os.cpu_count() or 1

    def to_json(self) -> dict[str, object]:
        """What a journal compares to tell one repair from another: not how fast it is done."""
        return {name: value for name, value in asdict(self).items() if name not in PACE}
