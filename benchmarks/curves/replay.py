"""The rule for hopeless trainings, replayed on curves that are kept: what it would have ended,
and when.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.curves.kept import KeptChange, KeptStart, KeptTraining
from reenact.trials.hopeless import baseline_of, is_hopeless
from reenact.trials.trainer import material
from reenact.trials.trial import Baseline


@dataclass(frozen=True, slots=True)
class Rule:
    """How the rule is replayed."""

    seeds: int = 1
    """Trainings of the program as it stands that a change is compared with; the fewer, the
    riskier.
    """
    constants: Mapping[str, float] = field(default_factory=dict)
    """Other values for the constants of the rule, where a metric is watched."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """One change: was it a winner, was it lost, what was saved."""

    start: KeptStart
    change: KeptChange
    winner: bool
    ended: tuple[float | None, ...]
    """For each training, the share at which it would have been ended; none: trained to its end."""

    @property
    def lost(self) -> bool:
        """A winner of which at least one training would have been ended."""
        return self.winner and any(share is not None for share in self.ended)

    @property
    def cpu_seconds(self) -> float:
        return sum(one.cpu_seconds for one in self.change.trainings)

    @property
    def saved(self) -> float:
        """CPU seconds."""
        pairs = zip(self.change.trainings, self.ended, strict=True)
        return sum((1 - share) * one.cpu_seconds for one, share in pairs if share is not None)


def replay(kept: Sequence[KeptStart], rule: Rule) -> list[Replayed]:
    """Every change of every program."""
    found = []
    for start in kept:
        base = _baseline(start, rule.seeds)
        for change in start.changes:
            ended = tuple(_ended(start, change, one, base, rule) for one in change.trainings)
            found.append(Replayed(start, change, is_winner(start, change), ended))
    return found


def is_winner(start: KeptStart, change: KeptChange) -> bool:
    """Better than the program as it stands by enough to matter, with every seed, and better than
    the best of its seeds.
    """
    before = [-math.inf if one.score is None else one.score for one in start.base]
    after = [-math.inf if one.score is None else one.score for one in change.trainings]
    enough = all(material(median(before), value, bounded=start.bounded) for value in after)
    return enough and min(after) > max(before)


def _baseline(start: KeptStart, seeds: int) -> Baseline | None:
    curves = [
        one.watched if start.watched else one.loss
        for one in start.base[:seeds]
        if one.score is not None
    ]
    steps = [one.steps for one in start.base[:seeds] if one.score is not None]
    larger = bool(start.watched) and start.larger
    return baseline_of(
        start.watched, curves, steps, larger=larger, bounded=start.bounded, source=""
    )


def _ended(
    start: KeptStart,
    change: KeptChange,
    one: KeptTraining,
    base: Baseline | None,
    rule: Rule,
) -> float | None:
    """The share of its own steps at which it would have been ended."""
    if base is None or (change.other_loss and (base.is_loss or "loss" in start.metric)):
        return None
    points = one.watched if start.watched else one.loss
    expected = base.for_steps(change.factor)
    constants = {} if expected.is_loss else rule.constants
    for count in range(1, len(points)):
        if is_hopeless(points[:count], expected, **constants):
            return min(1.0, points[count - 1][0] / max(1, one.steps))
    return None
