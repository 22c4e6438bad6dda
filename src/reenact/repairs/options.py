"""What the user of a repair may ask for."""

import os
from dataclasses import dataclass

from reenact.diagnosis.options import TrainingOptions
from reenact.errors import InputError
from reenact.trials.budget import TrainingBudget, repair_budget

USUAL_BUDGET = TrainingBudget(20, exact=False)
LEAST_SEEDS = 6
"""Below this no paired test of ranks can be significant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairOptions(TrainingOptions):
    """What a repair may be asked for besides; what the rules find that are used may be repaired."""

    strategy: str = "guided"
    seeds: int = 10
    """Fresh seeds that judge the final change."""
    space: str = "own"
    """Values that are searched: `own`, or `study` for the published search space."""
    chance: int = 0
    """Seed of the search itself: another number gives another search."""
    temperature: float | None = None
    """Of the answers that the strategy `llm` asks for; none: the model's own."""

    def __post_init__(self) -> None:
        TrainingOptions.__post_init__(self)
        if self.seeds < LEAST_SEEDS:
            least = f"at least {LEAST_SEEDS} fresh seeds"
            raise InputError(f"A verdict needs {least}. Received: seeds={self.seeds}.")

    @property
    def allowed(self) -> TrainingBudget:
        """What the search may cost; raises InputError for a budget that says nothing."""
        if self.budget:
            return repair_budget(self.budget)
        return USUAL_BUDGET

    @property
    def search_name(self) -> str:
        """Of the search: the strategy and its random seed."""
        return f"{self.strategy}-{self.chance}"

    @property
    def at_once(self) -> int:
        return self.workers or os.cpu_count() or 1
