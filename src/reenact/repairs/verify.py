"""Verify: the program as it stands against the changed one, over seeds and data that chose nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from reenact.diagnosis.attempts import Attempts, material
from reenact.diagnosis.verify import middle
from reenact.errors import TimeSpent
from reenact.program.patch import Patch
from reenact.repairs.verdict import Decision, Verdict
from reenact.repairs.workbench import NOTHING
from reenact.trials.metric import Measure
from reenact.trials.statistics import compare, holm
from reenact.types import Progress, Tell

FRESH = tuple(range(1001, 1201))
VERIFIED_AT_MOST = 2


def verify(
    candidates: Sequence[Patch], judge: Attempts, seeds: Sequence[int], tell: Tell
) -> tuple[tuple[Verdict, ...], str]:
    """Verdicts on the first candidates, until one holds; p-values corrected for how many were judged. And
    what could not be verified in time, in a sentence."""
    found: list[Verdict] = []
    for patch in candidates[:VERIFIED_AT_MOST]:
        tell(Progress("repair", note=f"verify over {len(seeds)} fresh seeds: {patch}"))
        try:
            before, after = judge.samples([NOTHING, patch], seeds)
        except TimeSpent as error:
            return tuple(found), f"Not verified: {patch}. {error.sentence}"
        comparison = compare(before, after)
        told = Verdict(
            patch, tuple(seeds), _told(before, judge.measure), _told(after, judge.measure), comparison,
            comparison.p_value, Decision.NOT_SIGNIFICANT,
        )  # fmt: skip
        found = _corrected([*found, told], judge)
        if found[-1].decision is Decision.REPAIRED:
            break
    return tuple(found), ""


def _corrected(found: Sequence[Verdict], judge: Attempts) -> list[Verdict]:
    values = holm([one.comparison.p_value for one in found])
    return [
        replace(one, p_value=p_value, decision=_decision(one, p_value, judge))
        for one, p_value in zip(found, values, strict=True)
    ]


def _decision(one: Verdict, p_value: float, judge: Attempts) -> Decision:
    if p_value >= 0.05:
        return Decision.NOT_SIGNIFICANT
    before, after = middle(one.comparison.before), middle(one.comparison.after)
    return Decision.REPAIRED if material(before, after, bounded=judge.bounded) else Decision.TOO_SMALL


def _told(values: Sequence[float], measure: Measure) -> tuple[float, ...]:
    """The metric as the program tells it."""
    signed = (value if measure.larger_is_better else -value for value in values)
    return tuple(value if math.isfinite(value) else math.nan for value in signed)
