"""The verdict on a reproduction: from executions and a statistic, never from what anybody says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from reenact.paper.measure.gap import Comparison, mean_gap
from reenact.types import ExitCode


class Verdict(StrEnum):
    """Whether the paper's numbers came out."""

    REPRODUCED = "reproduced"
    """Every claim holds, in the paper's own setting."""
    PARTLY = "partly reproduced"
    """Some claims hold, or all do at a smaller scale."""
    NOT = "not reproduced"
    """The experiment ran in the paper's setting and no claim holds."""
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
    comparisons: Sequence[Comparison], *, runs: bool, scale: float = 1.0, stand_in: str = ""
) -> Judgement:
    """`runs`: whether the code runs at all; `scale` and `stand_in`: how the setting is not the paper's."""
    verdict, reason = _verdict(comparisons, runs, scale, bool(stand_in))
    return Judgement(verdict, reason, mean_gap(comparisons), mean_gap(comparisons, executed=True))


def _verdict(
    comparisons: Sequence[Comparison], runs: bool, scale: float, stand_in: bool
) -> tuple[Verdict, str]:
    measured = [one for one in comparisons if one.measured is not None]
    holding = [one for one in measured if one.holds]
    count = f"{len(holding)} of {len(comparisons)} claims hold"
    if not runs:
        return Verdict.INCONCLUSIVE, "No version of the code runs, so nothing was measured."
    if not comparisons:
        return Verdict.INCONCLUSIVE, "The paper states no number for this task that could be compared."
    if not measured:
        return Verdict.INCONCLUSIVE, "No claim was measured."
    if stand_in:
        # Numbers that agree on other data agree by chance or because both are easy.
        drawn = "the data are a synthetic stand-in, so that says little about the paper"
        return Verdict.INCONCLUSIVE, f"{count if holding else 'No claim holds'}, but {drawn}."
    reduced = f"only {scale:.0%} of the paper's training was done" if scale < 1 else ""
    if reduced and not holding:
        return Verdict.INCONCLUSIVE, f"No claim holds, but {reduced}, so that says little about the paper."
    if reduced:
        return Verdict.PARTLY, f"{count}, but {reduced}."
    if len(holding) == len(comparisons):
        return Verdict.REPRODUCED, f"All {len(comparisons)} claims hold."
    if holding:
        return Verdict.PARTLY, f"{count}; {len(comparisons) - len(measured)} were not measured."
    return Verdict.NOT, f"None of {len(measured)} measured claims holds."
