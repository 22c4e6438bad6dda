"""The verdict: which of the paper's claims hold, its orderings first.

It comes from executions and a statistic, never from anybody's word. A ranking that is turned round is not
reproduced however near the single numbers are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reenact.paper.measure.gap import Comparison, mean_gap
from reenact.paper.measure.orderings import Ordering, OrderingStatus
from reenact.types import ExitCode


class Verdict(StrEnum):
    """Whether the paper's numbers came out."""

    REPRODUCED = "reproduced"
    """Every number and every ordering holds, in the paper's own setting."""
    PARTLY = "partly reproduced"
    """Some claims hold, or all do at a smaller scale."""
    NOT = "not reproduced"
    """The experiment ran in the paper's setting, and no claim or none of its orderings holds."""
    INCONCLUSIVE = "inconclusive"
    """Nothing was measured, or with other data, or at a smaller scale, where a miss says nothing."""

    @property
    def exit_code(self) -> ExitCode:
        if self is Verdict.REPRODUCED:
            return ExitCode.OK
        return ExitCode.INCONCLUSIVE if self is Verdict.INCONCLUSIVE else ExitCode.FOUND


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict and the sentence that explains it."""

    verdict: Verdict
    reason: str
    gap: float | None
    """Mean over all claims, a missing measure counting 1; none without claims."""
    gap_executed: float | None
    """Mean over the claims that were measured."""


def verdict_of(
    comparisons: Sequence[Comparison],
    orderings: Sequence[Ordering] = (),
    *,
    runs: bool,
    scale: float = 1.0,
    stand_in: str = "",
) -> Judgement:
    """`runs`: whether the code runs at all; `scale` and `stand_in`: how the setting is not the paper's."""
    verdict, reason = _verdict(comparisons, orderings, runs, scale, bool(stand_in))
    return Judgement(verdict, reason, mean_gap(comparisons), mean_gap(comparisons, executed=True))


def _verdict(
    comparisons: Sequence[Comparison], orderings: Sequence[Ordering], runs: bool, scale: float, stand_in: bool
) -> tuple[Verdict, str]:
    measured = [one for one in comparisons if one.measured is not None]
    holding = [one for one in measured if one.holds]
    ranked = _count(orderings, OrderingStatus.HOLDS)
    count = counted(comparisons, orderings)
    if not runs:
        return Verdict.INCONCLUSIVE, "No version of the code runs, so nothing was measured."
    if not comparisons:
        return Verdict.INCONCLUSIVE, "The paper states no number for this task that could be compared."
    if not measured:
        return Verdict.INCONCLUSIVE, "No claim was measured."
    none = not holding and not ranked
    if stand_in:
        # Numbers that agree on other data agree by chance or because both are easy.
        drawn = "the data are a synthetic stand-in, so that says little about the paper"
        return Verdict.INCONCLUSIVE, f"{'No claim holds' if none else count}, but {drawn}."
    reduced = f"only {scale:.0%} of the paper's training was done" if scale < 1 else ""
    if reduced and none:
        return Verdict.INCONCLUSIVE, f"No claim holds, but {reduced}, so that says little about the paper."
    if reduced:
        return Verdict.PARTLY, f"{count}, but {reduced}."
    if len(holding) == len(comparisons) and ranked == len(orderings):
        return Verdict.REPRODUCED, _all(comparisons, orderings)
    tested = [one for one in orderings if one.status in (*_AGAINST, OrderingStatus.HOLDS)]
    if tested and all(one.status is OrderingStatus.FAILS for one in tested):
        turned = max(tested, key=lambda one: one.claimed)
        return Verdict.NOT, f"{count}. Not so: {turned} ({measured_words(turned)})."
    return (Verdict.NOT if none else Verdict.PARTLY), f"{count}{_doubt(comparisons, orderings)}."


_AGAINST = (OrderingStatus.FAILS, OrderingStatus.SMALLER)


def counted(comparisons: Sequence[Comparison], orderings: Sequence[Ordering]) -> str:
    """How many of which hold."""
    holding, ranked = sum(one.holds for one in comparisons), _count(orderings, OrderingStatus.HOLDS)
    numbers = f"{holding} of {_many(len(comparisons), 'number')} hold"
    return f"{ranked} of {_many(len(orderings), 'ordering')} and {numbers}" if orderings else numbers


def measured_words(one: Ordering) -> str:
    """What was measured of an ordering."""
    if one.measured is None:
        return "not measured"
    limits = "" if one.low is None or one.high is None else f" [{one.low:.3g}, {one.high:.3g}]"
    return f"measured {one.measured:.3g}{one.better.unit}{limits} over {_many(one.n, 'seed')}"


def _all(comparisons: Sequence[Comparison], orderings: Sequence[Ordering]) -> str:
    if orderings:
        numbers, ranks = _many(len(comparisons), "number"), _many(len(orderings), "ordering")
        return f"All {numbers} and {ranks} hold."
    return f"All {len(comparisons)} numbers hold." if len(comparisons) > 1 else "The number holds."


def _doubt(comparisons: Sequence[Comparison], orderings: Sequence[Ordering]) -> str:
    """What could not be decided."""
    missing = sum(one.measured is None for one in comparisons)
    undecided = _count(orderings, OrderingStatus.UNDECIDED)
    parts = [f"not measured: {_many(missing, 'number')}"] if missing else []
    parts += [f"too noisy to decide: {_many(undecided, 'ordering')}"] if undecided else []
    return "; " + ", ".join(parts) if parts else ""


def _count(orderings: Sequence[Ordering], status: OrderingStatus) -> int:
    return sum(one.status is status for one in orderings)


def _many(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
