"""Minimise: leave out of a change whatever the gain does not need.

Delta debugging over the changes. A part passes only when it surely keeps nine tenths of the gain
(exact one-sided signed-rank test at 95 %): with few seeds the answer is no, so low power cannot
pass for smallness.
"""

from dataclasses import dataclass
from statistics import median
from typing import TypedDict

from reenact.program.edit.change import Change
from reenact.program.patch import Patch
from reenact.repairs.search_context import NOTHING, SearchContext
from reenact.result import rounded
from reenact.trials.ddmin import minimise
from reenact.trials.statistics import non_inferior

FIRST, ALL = 1, 5
"""Seeds of a first look at a part, and of the test."""
KEEP = 0.9
HOPELESS = 0.8
"""A part that keeps less of the gain than this on the first seed is not looked at again."""
ENDED = "The budget ended before it was clear whether a smaller change does the same."


class ReductionStepJson(TypedDict):
    """A part of a change that was tried, as JSON."""

    patch: Patch
    kept: float
    suffices: bool
    seeds: int


@dataclass(frozen=True, slots=True)
class ReductionStep:
    """One part of the change that was tried."""

    patch: Patch
    kept: float
    """Share of the gain, by middle values."""
    suffices: bool
    seeds: int

    def json_fields(self) -> ReductionStepJson:
        return {
            "patch": self.patch,
            "kept": rounded(self.kept, 4),
            "suffices": self.suffices,
            "seeds": self.seeds,
        }


def smallest(patch: Patch, context: SearchContext) -> tuple[Patch, list[ReductionStep], str]:
    """The smallest part that is not inferior, the parts that were tried, and what could not be
    done.
    """
    if patch.complexity < 2:
        return patch, [], ""
    cuts: list[ReductionStep] = []
    short = ""

    def suffices(part: tuple[Change, ...]) -> bool:
        nonlocal short
        smaller = Patch(part)
        if not part or not context.applies(smaller):
            return False
        if not context.within_budget(context.cost(smaller)):
            short = ENDED
            return False
        kept = share_of_gain(
            context.samples(NOTHING, FIRST),
            context.samples(patch, FIRST),
            context.samples(smaller, FIRST),
        )
        if kept < HOPELESS:
            cuts.append(ReductionStep(smaller, kept, False, FIRST))
            return False
        more = sum(context.cost(one, ALL - FIRST) for one in (NOTHING, patch, smaller))
        if not context.within_budget(more):
            short = ENDED
            return False
        before = context.samples(NOTHING, ALL)
        full = context.samples(patch, ALL)
        values = context.samples(smaller, ALL)
        held = non_inferior(before, full, values, keep=KEEP)
        cuts.append(
            ReductionStep(
                smaller,
                share_of_gain(before, full, values),
                held,
                ALL,
            )
        )
        return held

    return Patch(minimise(patch.changes, suffices)), cuts, short


def share_of_gain(
    before: tuple[float, ...], full: tuple[float, ...], smaller: tuple[float, ...]
) -> float:
    """How much of the gain of the full change a smaller one keeps, by middle values."""
    base = median(before)
    top = median(full)
    reached = median(smaller)
    if reached >= top:
        return 1.0
    gain = top - base
    # What failed before has no number: any training that succeeds is the gain.
    if 0 < gain < float("inf"):
        return (reached - base) / gain
    return float(reached > base)
