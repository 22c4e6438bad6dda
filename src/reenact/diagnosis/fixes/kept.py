"""What an edit leaves alone: steps, rows, trained parameters and metrics, before it and after it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from reenact.errors import InputError
from reenact.faults.entry import Category
from reenact.faults.registry import detector
from reenact.probe.books.rows import JudgingRows
from reenact.probe.trace import Trace
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch

Shapes: TypeAlias = tuple[tuple[int, ...], ...]


class Part(StrEnum):
    """A part of the books of a training."""

    STEPS = "steps"
    ROWS = "rows that train"
    TRAINED = "trained parameters"
    JUDGED = "rows that judge"
    METRICS = "metrics"


ABOUT: Mapping[Category, frozenset[Part]] = {
    Category.OPTIMISATION: frozenset({Part.TRAINED}),
    Category.DATA: frozenset({Part.STEPS, Part.ROWS, Part.JUDGED}),
    Category.LABELS: frozenset({Part.ROWS, Part.JUDGED}),
    Category.OUTPUT: frozenset({Part.TRAINED, Part.METRICS}),
    Category.LAYERS: frozenset({Part.TRAINED}),
    Category.EVALUATION: frozenset({Part.STEPS, Part.ROWS, Part.JUDGED, Part.METRICS}),
    Category.SEQUENCE: frozenset({Part.ROWS, Part.JUDGED}),
    Category.CRASH: frozenset(Part),
}
"""What faults of a category are about: their fix may change it."""
OF_FAULT: Mapping[str, frozenset[Part]] = {
    "gradients-do-not-balance": frozenset({Part.STEPS}),
}
"""Of a fault, besides."""
OF_KIND: Mapping[Kind, frozenset[Part]] = {
    Kind.EPOCHS: frozenset({Part.STEPS, Part.ROWS, Part.JUDGED}),
    Kind.BATCH_SIZE: frozenset({Part.STEPS, Part.ROWS, Part.JUDGED}),
}
"""Of a hyperparameter that is given another value."""


def may_change(code: str, patch: Patch) -> frozenset[Part]:
    """The parts that a finding of this detector, and what an edit sets, are about."""
    parts: frozenset[Part] = frozenset()
    for change in patch.changes:
        if isinstance(change, Set):
            parts |= OF_KIND.get(change.hyperparameter.kind, frozenset())
    try:
        fault = detector(code).fault
    except InputError:
        return parts
    return parts | ABOUT.get(fault.category, frozenset()) | OF_FAULT.get(fault.name, frozenset())


@dataclass(frozen=True, slots=True)
class Kept:
    """The books of a run, as far as an edit should leave them alone."""

    steps: int = 0
    rows: int | None = None
    """Rows of the batches of all steps; none where the size of one is not known."""
    owned: Shapes | None = None
    """Shapes of the tensors that an optimizer has."""
    trained: Shapes | None = None
    """Of these, the ones that a gradient reached."""
    judged: tuple[int, ...] | None = None
    """Sizes of the sets of rows that were evaluated."""
    metrics: frozenset[str] = frozenset()

    @classmethod
    def of(cls, trace: Trace | None) -> Kept:
        """What a trace says."""
        if trace is None:
            return cls()
        books = trace.books
        rows = books.rows if books is not None else None
        parameters = books.parameters if books is not None else None
        owned: Shapes | None = None
        trained: Shapes | None = None
        if parameters is not None:
            given = [one for one in parameters.tensors if one.owners]
            owned = tuple(sorted(one.shape for one in given))
            trained = tuple(sorted(one.shape for one in given if one.graded))
        return cls(
            steps=trace.step_count,
            rows=_rows_of(trace),
            owned=owned,
            trained=trained,
            judged=_judged(rows.sets) if rows is not None else None,
            metrics=frozenset(trace.metric_names()),
        )


def difference(before: Kept, after: Kept, free: Collection[Part]) -> str:
    """What an edit changed that it should have left alone, in words; empty for nothing. A part that
    was not counted on both sides is not compared.
    """
    if Part.STEPS not in free and before.steps != after.steps:
        return f"it takes {after.steps} steps in place of {before.steps}"
    if Part.ROWS not in free and _differ(before.rows, after.rows):
        return f"models are given {after.rows} rows in place of {before.rows}"
    if Part.TRAINED not in free and _differ(before.owned, after.owned):
        counts = [len(one or ()) for one in (before.owned, after.owned)]
        return f"the optimizer has {counts[1]} tensors in place of {counts[0]}"
    if Part.TRAINED not in free and (lost := _lost(before.trained, after.trained)):
        return f"no gradient reaches {lost} of the tensors that were trained"
    if Part.JUDGED not in free and _differ(before.judged, after.judged):
        return f"{_sizes(after.judged)} rows judge in place of {_sizes(before.judged)}"
    if Part.METRICS not in free and (gone := before.metrics - after.metrics):
        return f"the metric {min(gone)} is no longer logged"
    return ""


def _rows_of(trace: Trace) -> int | None:
    """By the steps: the book of rows passes looks over where it has no time, and counts fewer then."""
    sizes = [float(size) for size in trace.steps["batch_size"]]
    return round(sum(sizes)) if sizes and all(map(math.isfinite, sizes)) else None


def _judged(sets: Sequence[JudgingRows]) -> tuple[int, ...] | None:
    """None where one of them was not seen to its end."""
    if not all(one.complete for one in sets):
        return None
    return tuple(sorted(one.rows for one in sets))


def _lost(before: Shapes | None, after: Shapes | None) -> int:
    """How many tensors learn no more. That more of them do is what a cure of dead units or NaN does."""
    if before is None or after is None:
        return 0
    return (Counter(before) - Counter(after)).total()


def _differ(before: object, after: object) -> bool:
    return before is not None and after is not None and before != after


def _sizes(sets: tuple[int, ...] | None) -> str:
    return ", ".join(map(str, sets or ())) or "no"
