"""What came of a repair: before and after over fresh seeds, the decision, and how it was found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import fmean, stdev

from reenact.program.patch import Patch
from reenact.repairs.judging import Judging
from reenact.repairs.minimise import ReductionStep
from reenact.repairs.search_context import Evaluation
from reenact.trials.budget import TrainingUsage
from reenact.trials.outcome import Curve
from reenact.trials.statistics import Comparison
from reenact.types import ExitCode, JsonValue


class Decision(StrEnum):
    """What the fresh seeds say."""

    REPAIRED = "repaired"
    """Significantly better, and by enough to matter."""
    TOO_SMALL = "too-small"
    """Significantly better, but too little to matter."""
    NOT_SIGNIFICANT = "not-significant"
    NOTHING_FOUND = "nothing-found"
    """No change helped in the search."""
    GOOD_ALREADY = "good-already"
    """The training performs well and nothing accuses it."""
    NOT_DECIDED = "not-decided"
    """The time was up before a change was verified."""

    @property
    def exit_code(self) -> ExitCode:
        return _EXIT_CODES[self]


_EXIT_CODES = {
    Decision.REPAIRED: ExitCode.OK,
    Decision.GOOD_ALREADY: ExitCode.OK,
    Decision.TOO_SMALL: ExitCode.FOUND,
    Decision.NOTHING_FOUND: ExitCode.FOUND,
    Decision.NOT_SIGNIFICANT: ExitCode.INCONCLUSIVE,
    Decision.NOT_DECIDED: ExitCode.INCONCLUSIVE,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """One change, trained over seeds that chose nothing, against the program as it stands."""

    patch: Patch
    seeds: tuple[int, ...]
    before: tuple[float, ...]
    """The metric as it is told, a seed each; NaN for a failed training."""
    after: tuple[float, ...]
    comparison: Comparison
    """The same, oriented so that larger is better."""
    p_value: float
    """Corrected for the number of changes that were verified."""
    decision: Decision

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "decision": self.decision.value,
            "patch": self.patch.to_json(),
            "seeds": list(self.seeds),
            "before": [_json(value) for value in self.before],
            "after": [_json(value) for value in self.after],
            "p_value": self.p_value,
            "rank_biserial": _json(self.comparison.rank_biserial),
            "cohen_d": _json(self.comparison.cohen_d),
        }


@dataclass(frozen=True)
class Repair:
    """The answer."""

    strategy: str
    decision: Decision
    patch: Patch
    diff: str
    """Against the user's own source; empty when nothing is to be changed."""
    judging: Judging
    verdicts: tuple[Verdict, ...]
    """What was verified; the last one decides."""
    looks: tuple[Evaluation, ...]
    cuts: tuple[ReductionStep, ...]
    cost: TrainingUsage
    why: Sequence[str] = ()
    """What the diagnosis accused, a line each."""
    curves: Mapping[str, tuple[Curve, Curve]] = field(default_factory=dict)
    """Metric to its curve before and after, for one seed."""
    notes: tuple[str, ...] = ()
    reused: str = ""
    """What was not made by this execution, in a line; empty for nothing."""

    @property
    def verdict(self) -> Verdict | None:
        return self.verdicts[-1] if self.verdicts else None

    @property
    def sentence(self) -> str:
        """The one line to read."""
        if self.decision is Decision.GOOD_ALREADY:
            return "This training performs well already; nothing is to be repaired."
        if self.decision is Decision.NOT_DECIDED:
            return "Not decided: the time was up before a change was verified."
        if self.verdict is None:
            return "No change helped within the budget; nothing is to be recommended."
        told, name = self.verdict, self.judging.judge.name
        numbers = f"{name} {summary(told.before)} -> {summary(told.after)}"
        proof = f"{len(told.seeds)} fresh seeds, p={told.p_value:.2g}"
        count = self.patch.complexity
        if self.decision is Decision.REPAIRED:
            return f"Repaired by {count} change{'s' if count != 1 else ''}: {numbers} ({proof})."
        if self.decision is Decision.TOO_SMALL:
            return f"The best change found helps too little to matter: {numbers} ({proof})."
        return f"No change holds on fresh seeds; the best found: {numbers} ({proof})."

    def to_json(self) -> dict[str, JsonValue]:
        return {
            "strategy": self.strategy,
            "decision": self.decision.value,
            "sentence": self.sentence,
            "patch": self.patch.to_json(),
            "complexity": self.patch.complexity,
            "diff": self.diff,
            "judging": self.judging.to_json(),
            "verdicts": [one.to_json() for one in self.verdicts],
            "looks": [one.to_json() for one in self.looks],
            "cuts": [one.to_json() for one in self.cuts],
            "curves": {
                name: {"before": _points(before), "after": _points(after)}
                for name, (before, after) in self.curves.items()
            },
            "trainings": self.cost.trainings,
            "spent": round(self.cost.spent, 3),
            "one_training_s": round(self.cost.one_training, 3),
            "verifying_trainings": self.cost.verifying,
            "seconds": round(self.cost.seconds, 2),
            "why": list(self.why),
            "notes": list(self.notes),
        }


def summary(values: Sequence[float]) -> str:
    """Mean and spread; trainings that failed are counted apart."""
    known = [value for value in values if math.isfinite(value)]
    if not known:
        return "failed"
    text = f"{fmean(known):.4g}"
    if len(known) > 1:
        text += f" ± {stdev(known):.2g}"
    failed = len(values) - len(known)
    return f"{text} ({failed} of {len(values)} failed)" if failed else text


def _points(curve: Curve) -> list[JsonValue]:
    return [[step, _json(value)] for step, value in curve]


def _json(value: float) -> JsonValue:
    return value if math.isfinite(value) else str(value)
