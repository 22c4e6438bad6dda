"""Turns a finished window into rows of the trace."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reenact_probe import statistics as stat
from reenact_probe.types import Array, Row

if TYPE_CHECKING:
    from reenact_probe.window import Window

NAN = float("nan")


def layer_rows(window: Window, table: Array, raw: list[Array], step: int) -> Iterator[Row]:
    """One row for each layer seen, in the columns of `tables.LAYER`."""
    for (index, phase), (_, training, slots) in window.outputs.items():
        values = table[slots["all"]]
        saturated = table[slots["saturation"], stat.BEYOND_5] if "saturation" in slots else NAN
        dead = table[slots["units"], stat.TINY] if "units" in slots else NAN
        row_sum = float(raw[slots["row"]][0]) if "row" in slots else NAN
        back = window.gradients.get(index) if phase == 0 else None
        gradient = (
            (NAN,) * 4 if back is None else table[back][[stat.MEAN, stat.MEAN_ABS, stat.ZERO, stat.BAD]]
        )
        yield (
            step, index, phase, training,
            *values[[stat.MEAN, stat.STD, stat.MIN, stat.MAX, stat.MEAN_ABS, stat.ZERO]],
            *values[[stat.NONPOSITIVE, stat.BEYOND_5]], saturated, dead, values[stat.BAD], row_sum, *gradient,
        )  # fmt: skip


def parameter_rows(window: Window, table: Array, raw: list[Array], step: int) -> Iterator[Row]:
    """One row for each parameter tensor, in the columns of `tables.PARAMETER`."""
    for i, (index, tensor) in enumerate(window.parameters):
        weight = table[window.weight_slots[i]]
        update = table[window.update_slots[i]]
        yield (
            step, index, *_gradient(window, table, raw, i, tensor.numel()),
            weight[stat.MEAN], weight[stat.STD], weight[stat.MEAN_ABS], _raw(raw, window.weight_norms, i),
            max(abs(weight[stat.MIN]), abs(weight[stat.MAX])),
            *weight[[stat.TINY, stat.NEGATIVE, stat.BAD]],
            update[stat.MEAN_ABS], *_update(update, weight, tensor.numel(), window.cap),
        )  # fmt: skip


def _gradient(window: Window, table: Array, raw: list[Array], i: int, count: int) -> tuple[float, ...]:
    present = float(i in window.grad_present)
    norm = _raw(raw, window.grad_norms, i)
    slot = window.grad_slots.get(i)
    if slot is None:
        return (present, NAN, NAN, NAN, norm, NAN, NAN, NAN)
    seen = table[slot]
    largest = max(abs(seen[stat.MIN]), abs(seen[stat.MAX]))
    # The norm is exact: it tells of a bad value that the sample missed.
    bad = (
        seen[stat.BAD]
        if i not in window.grad_norms or math.isfinite(norm)
        else max(seen[stat.BAD], 1 / count)
    )
    return (
        present,
        seen[stat.MEAN],
        seen[stat.STD],
        seen[stat.MEAN_ABS],
        norm,
        largest,
        seen[stat.ZERO],
        bad,
    )


def _update(update: Array, weight: Array, count: int, cap: int) -> tuple[float, float]:
    """Norm of the whole update, estimated from the sample, and its ratio to the weights of the sample."""
    scale = math.sqrt(max(1.0, count / cap))
    moved, held = math.sqrt(update[stat.SUM_SQUARES]), math.sqrt(weight[stat.SUM_SQUARES])
    return moved * scale, (moved / held if held > 0 else NAN)


def total(raw: list[Array], slots: dict[int, tuple[int, int]]) -> float:
    """Norm over all tensors of their norms."""
    if not slots:
        return NAN
    norms = [float(raw[slot][at]) for slot, at in slots.values()]
    return math.sqrt(sum(norm * norm for norm in norms))


def total_update(rows: list[Row]) -> float:
    moved = [row[-2] for row in rows]
    return math.sqrt(sum(value * value for value in moved)) if moved else NAN


def _raw(raw: list[Array], slots: dict[int, tuple[int, int]], key: Any) -> float:
    if key not in slots:
        return NAN
    slot, at = slots[key]
    return float(raw[slot][at])
