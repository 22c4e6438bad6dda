"""Verify: the unchanged program against changed ones, over seeds that chose nothing.

There is a look after six seeds: the rest is not trained where all six are better, or where no
result of the rest could make the change significant. The p-values count both looks
(`signed_rank_p`), so that a change that does nothing holds in at most one case of twenty, as
without the look.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.trials.bounds import shortfall
from reenact.trials.statistics import (
    ALPHA,
    PairedSamples,
    compare,
    detectable_gain,
    is_settled,
)
from reenact.trials.trainer import BudgetedTrainer

UNCHANGED = Patch(())
"""The unchanged program."""
SHARES = (2 / 3, 1 / 3)
"""Of the one case in twenty that may be wrong: the first change has more of it than the second,
and a third one has nothing.
With six pairs both can hold: 1.5 * 2/64 and 3 * 1/64 are below 0.05.
"""
SIGNIFICANT = ALPHA
FIRST_LOOK = 6
"""Seeds that can settle it: six pairs that are all better have p=1/64."""


@dataclass(frozen=True, slots=True)
class Verification:
    """One change, trained over fresh seeds."""

    patch: Patch
    seeds: tuple[int, ...]
    comparison: PairedSamples
    """Before and after, larger is better; -inf for a failed training."""
    p_value: float
    """Corrected where a second change was verified, or might have been."""
    material: bool
    """The middle values differ by enough to matter."""
    cpu_seconds: float
    shortfall: str = ""
    """Why a significant difference is not an improvement; empty where it is one, or not significant."""
    detectable: float | None = None
    """The smallest gain that would have been found four times out of five; none where no one
    can say.
    """

    @property
    def significant(self) -> bool:
        return self.p_value < SIGNIFICANT

    @property
    def holds(self) -> bool:
        """Significantly better, by enough to matter, and by a metric that reports an improvement."""
        return self.significant and self.material and not self.shortfall


def verify(
    patches: Sequence[Patch],
    trainer: BudgetedTrainer,
    seeds: Sequence[int],
    *,
    begin: Callable[[Patch], None],
    counted: bool = False,
    base: Patch = UNCHANGED,
) -> tuple[tuple[Verification, ...], TimeSpent | None]:
    """Verify the first patches, until one holds; where two might be, both p-values are corrected by
    their shares (weighted Bonferroni), the first one too: else both together are wrong more often
    than they say.

    `begin` is called with each patch before it is trained. `counted`: a second one must be within
    the budget. `base` is what they are compared with. With the verifications comes the error that
    ended them when the time was up.
    """
    found: list[Verification] = []
    for patch, share in zip(patches, SHARES if len(patches) > 1 else (1.0,), strict=False):
        if counted and found and not trainer.within_budget(trainer.cost(patch, len(seeds))):
            break
        begin(patch)
        used = trainer.usage.cpu_seconds
        try:
            compared = _compared((base, patch), trainer, seeds, SIGNIFICANT * share)
        except TimeSpent as error:
            return tuple(found), error
        cpu_seconds = trainer.usage.cpu_seconds - used
        found.append(_verification(patch, trainer, seeds, compared, share, cpu_seconds))
        if found[-1].holds:
            break
    return tuple(found), None


def _verification(
    patch: Patch,
    trainer: BudgetedTrainer,
    seeds: Sequence[int],
    compared: PairedSamples,
    share: float,
    cpu_seconds: float,
) -> Verification:
    before = compared.before
    after = compared.after
    alpha = SIGNIFICANT * share
    looked = FIRST_LOOK if len(seeds) > FIRST_LOOK else 0
    verification = Verification(
        patch=patch,
        seeds=tuple(seeds[: len(before)]),
        comparison=compared,
        p_value=min(1.0, compared.p_value / share),
        material=trainer.improves(median(before), median(after)),
        cpu_seconds=cpu_seconds,
        detectable=detectable_gain(
            before,
            after,
            planned=len(seeds),
            alpha=alpha,
            looked=looked,
        ),
    )
    if not verification.significant:
        return verification
    why = shortfall(
        trainer.measure,
        before,
        after,
        trainer.bounds,
        alpha=alpha,
    )
    return replace(verification, shortfall=why)


def _compared(
    pair: tuple[Patch, Patch], trainer: BudgetedTrainer, seeds: Sequence[int], alpha: float
) -> PairedSamples:
    """Over the first seeds where they settle it, else over all; where there are no further ones,
    both come to the same p-value.
    """
    before, after = trainer.samples(pair, seeds[:FIRST_LOOK])
    if is_settled(before, after, len(seeds), alpha):
        return compare(before, after)
    return compare(*trainer.samples(pair, seeds), looked=FIRST_LOOK)
