"""Epochs that are known only afterwards: from printed lines (`epoch 3 ...` between steps gives the length of
an epoch), or from rows that came back.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from reenact.probe.columns import Columns
from reenact.probe.trace import Event


def printed_epochs(steps: Columns, events: Sequence[Event]) -> Columns:
    """Fill the column `epoch` from printed lines when the probe saw no sign of epochs itself."""
    if not len(steps):
        return steps
    if steps["epoch"].max() >= 0:
        return _with_first(steps)
    length = epoch_length(events)
    if length is None:
        return steps
    rows = steps.rows.copy()
    rows[:, steps.columns.index("epoch")] = steps["step"] // length
    return Columns(steps.columns, rows)


def _with_first(steps: Columns) -> Columns:
    """The end of the first epoch is noticed when the second begins: until then its steps had no number."""
    unknown = steps["epoch"] < 0
    if not unknown[0] or steps["epoch"][~unknown].min() != 1:
        return steps
    rows = steps.rows.copy()
    rows[unknown, steps.columns.index("epoch")] = 0
    return Columns(steps.columns, rows)


def epoch_length(events: Sequence[Event]) -> int | None:
    """Steps an epoch, where the printed numbers grow in step with the optimizer; none where they do not."""
    seen: dict[int, int] = {}
    for event in events:
        number = event.facts.get("number")
        if event.kind == "printed-epoch" and isinstance(number, int):
            seen.setdefault(number, event.step)
    points = sorted(seen.items())
    lengths = {
        (later_step - step) / (later - number) for (number, step), (later, later_step) in pairwise(points)
    }
    if len(lengths) != 1:
        return None
    length = lengths.pop()
    return int(length) if length >= 1 and length == int(length) else None
