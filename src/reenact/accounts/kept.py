"""Whether the states that are kept are those at which a metric is at its best, and not at its worst."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reenact.accounts.account import Entry, balances, imbalance
from reenact.accounts.restored import Selected, restored_entries
from reenact.probe.books.metrics import KeptEpoch, MetricsBook, Plateau
from reenact.probe.trace import Metric

FEWEST = 4
"""Evaluations from which a direction can be seen."""
GIVEN_FEWEST = 3
"""Values given to a schedule that must be those of a metric."""
_RISES = frozenset(
    {"acc", "accuracy", "f1", "auc", "auroc", "precision", "recall", "bleu", "r2", "iou"}
)
_FALLS = frozenset({"loss", "error", "mse", "rmse", "mae", "perplexity", "ppl"})
_OURS = ("probe", "progress")
"""Sources of metrics that the program did not report itself."""


@dataclass(frozen=True, slots=True)
class Course:
    """A metric over the steps at which it was reported."""

    name: str
    rises: bool
    """More is better."""
    values: dict[int, float]

    def records(self, best: bool, ties: bool) -> set[int]:
        """The steps at which it is better than ever before, or worse than ever before."""
        sign = 1.0 if self.rises is best else -1.0
        most = -math.inf
        steps: set[int] = set()
        for step, value in sorted(self.values.items()):
            if sign * value > most or (ties and sign * value == most):
                steps.add(step)
            most = max(most, sign * value)
        return steps


def kept_entries(book: MetricsBook, metrics: Sequence[Metric], stored: bool) -> Iterator[Entry]:
    """One entry per line that keeps states by a metric, and one a schedule that waits for one."""
    courses = list(_courses(metrics))
    last = max((one.step for one in book.loaded), default=-1)
    for kept in book.kept:
        entry = _kept(kept, courses, last if not stored else math.inf)
        if entry is not None:
            yield entry
    yield from restored_entries(book, list(_selected(book, courses)))
    for plateau in book.plateaus:
        entry = _plateau(plateau, courses)
        if entry is not None:
            yield entry


def rises(name: str) -> bool | None:
    """Whether more of a metric of this name is better; none where that is not known."""
    words = {word for word in re.split(r"[^a-z0-9]+", name.lower()) if word}
    up, down = bool(words & _RISES), bool(words & _FALLS)
    return None if up is down else up


def _courses(metrics: Sequence[Metric]) -> Iterator[Course]:
    """The last value of each metric at each step."""
    by_name: dict[str, dict[int, float]] = {}
    for metric in metrics:
        if metric.source not in _OURS and math.isfinite(metric.value):
            by_name.setdefault(metric.name, {})[metric.step] = metric.value
    for name, values in by_name.items():
        up = rises(name)
        if up is not None and len(values) >= FEWEST:
            yield Course(name, up, values)


def _kept(kept: KeptEpoch, courses: Sequence[Course], used: float) -> Entry | None:
    """What a line keeps its states by; none where it is not a metric that is reported."""
    steps = set(kept.steps)
    good = [course for course in courses if _follows(steps, course, best=True)]
    bad = [course for course in courses if _follows(steps, course, best=False)]
    if good:
        names = " and ".join(course.name for course in good)
        return balances(
            "kept-state", f"{len(steps)} states are kept, each when {names} is at its best"
        )
    if not bad or not _matters(steps, bad[0], used):
        return None
    return _at_its_worst(kept, bad[0])


def _selected(book: MetricsBook, courses: Sequence[Course]) -> Iterator[Selected]:
    """States that are kept when a metric is at its best, by that metric."""
    for kept in book.kept:
        steps = set(kept.steps)
        for course in courses:
            if len(steps) > 1 and _follows(steps, course, best=True):
                yield Selected(kept, course.name, course.values)
                break


def _follows(steps: set[int], course: Course, best: bool) -> bool:
    """Whether states are kept where a metric sets a record, and nowhere else."""
    asked = steps & set(course.values)
    if len(asked) != len(steps) or len(steps) == len(course.values):
        return False
    return any(steps == course.records(best, ties) for ties in (False, True))


def _matters(steps: set[int], course: Course, used: float) -> bool:
    """Whether a state that was kept once, at the first evaluation, is used in the end."""
    return len(steps) > 1 or used >= max(course.values)


def _at_its_worst(kept: KeptEpoch, course: Course) -> Entry:
    last = course.values[max(kept.steps)]
    best = (max if course.rises else min)(course.values.values())
    return imbalance(
        "kept-state",
        f"the state of {kept.model} is kept when {course.name} is at its worst: {last:.4g} at the last"
        f" state that was kept, where it reached {best:.4g}",
        why="What is kept is the worst model and not the best: turn the comparison around.",
        place=kept.place,
        confidence=0.8 if len(kept.steps) > 1 else 0.6,
    )


def _plateau(plateau: Plateau, courses: Sequence[Course]) -> Entry | None:
    """Whether a schedule waits for a metric in the direction in which it gets better."""
    for course in courses:
        pairs = [(value, course.values.get(step)) for step, value in plateau.given]
        same = [
            known is not None and math.isclose(value, known, rel_tol=2e-3, abs_tol=5e-4)
            for value, known in pairs
        ]
        if sum(same) < max(GIVEN_FEWEST, 0.8 * len(pairs)):
            continue
        if (plateau.mode == "max") is course.rises:
            return balances("plateau", f"a schedule waits for {course.name} to stop getting better")
        return _waits_wrongly(plateau, course)
    return None


def _waits_wrongly(plateau: Plateau, course: Course) -> Entry:
    wanted = "max" if course.rises else "min"
    return imbalance(
        "plateau",
        f"a schedule that is given {course.name} takes it for a metric to be"
        f" {'maximized' if plateau.mode == 'max' else 'minimized'}",
        why=f'The learning rate is cut while the metric gets better: mode="{wanted}".',
        place=plateau.place,
        confidence=0.8,
    )
