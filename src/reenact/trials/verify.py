"""Verify: the program as it stands against changed ones, over seeds that chose nothing."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.trials.statistics import Comparison, compare, holm
from reenact.trials.trainer import BudgetedTrainer

VERIFIED_AT_MOST = 2
SIGNIFICANT = 0.05


@dataclass(frozen=True, slots=True)
class Verification:
    """One change, trained over fresh seeds."""

    patch: Patch
    seeds: tuple[int, ...]
    comparison: Comparison
    """Before and after, larger is better; -inf for a failed training."""
    p_value: float
    """Corrected for the number of changes that were verified."""
    material: bool
    """The middle values differ by enough to matter."""
    cpu_seconds: float

    @property
    def significant(self) -> bool:
        return self.p_value < SIGNIFICANT

    @property
    def holds(self) -> bool:
        """Significantly better, and by enough to matter."""
        return self.significant and self.material


def verify(
    patches: Sequence[Patch],
    trainer: BudgetedTrainer,
    seeds: Sequence[int],
    *,
    begin: Callable[[Patch], None],
    counted: bool = False,
) -> tuple[tuple[Verification, ...], TimeSpent | None]:
    """Verify the first patches, until one holds; p-values are corrected for how many were verified (Holm).

    `begin` is called with each patch before it is trained. `counted`: a second one must be within the budget.
    With the verifications comes the error that ended them when the time was up.
    """
    found: list[Verification] = []
    for patch in patches[:VERIFIED_AT_MOST]:
        if counted and found and not trainer.within_budget(trainer.cost(patch, len(seeds))):
            break
        begin(patch)
        used = trainer.usage.cpu_seconds
        try:
            before, after = trainer.samples([Patch(()), patch], seeds)
        except TimeSpent as error:
            return tuple(found), error
        comparison = compare(before, after)
        large = trainer.improves(median(before), median(after))
        took = trainer.usage.cpu_seconds - used
        found.append(Verification(patch, tuple(seeds), comparison, comparison.p_value, large, took))
        found = _corrected(found)
        if found[-1].holds:
            break
    return tuple(found), None


def _corrected(found: Sequence[Verification]) -> list[Verification]:
    values = holm([one.comparison.p_value for one in found])
    return [replace(one, p_value=p_value) for one, p_value in zip(found, values, strict=True)]
