"""A run cut into checks: what a monitor that looks at the end of each epoch would see."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reenact.program.graph import TaskType
from reenact.rules.evidence import Evidence
from reenact.rules.measured import kernel_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from reenact.probe.trace import Columns, Trace

    Floats = NDArray[np.float64]

FEWEST_EPOCHS, SLICES, MOST = 3, 10, 40
HELD_OUT = ("val_", "test_")
SCORES = ("accuracy", "acc", "binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy")


@dataclass(frozen=True, slots=True)
class Checks:
    """One value a check, in order; NaN where nothing is known."""

    loss: Floats
    accuracy: Floats
    """On training batches; for a regression the share of the first loss that is gone."""
    held_loss: Floats
    held_accuracy: Floats
    first_gradient: Floats
    """Norm for the first kernel."""
    last_gradient: Floats
    zero_gradients: Floats
    """Share of exactly zero entries, the mean over the kernels."""
    bad_gradients: Floats
    bad_weights: Floats
    largest_weight: Floats
    largest_update: Floats
    """Of all kernels, as a share of their size."""
    mean_weight: Floats
    std_weight: Floats


def checks_of(evidence: Evidence) -> Checks:
    """The checks of a watched run; empty ones without a trace."""
    import numpy as np

    trace = evidence.trace
    if trace is None or not trace.step_count:
        return Checks(*(np.empty(0) for _ in range(13)))
    window, count = _windows(trace)
    steps = trace.steps["step"]
    loss = _means(trace.losses.values, window, count)
    tables = [table for layer in evidence.weighted if len(table := kernel_rows(evidence, layer))]

    def over(column: str, chosen: list[Columns]) -> list[Floats]:
        return [_means(rows[column], _at(rows["step"], steps, window), count) for rows in chosen]

    held_loss = _told(trace, HELD_OUT, ("loss",), steps, window, count)
    held = _told(trace, HELD_OUT, SCORES, steps, window, count)
    accuracy = _told(trace, ("",), SCORES, steps, window, count)
    if not np.isfinite(accuracy).any():
        accuracy = _means(trace.steps["accuracy"], window, count)
    if evidence.task is TaskType.REGRESSION or not np.isfinite(accuracy).any():
        accuracy, held = _gone(loss), _gone(held_loss)
    return Checks(
        loss=loss,
        accuracy=accuracy,
        held_loss=held_loss,
        held_accuracy=held,
        first_gradient=_mean_of(over("grad_norm", tables[:1]), count),
        last_gradient=_mean_of(over("grad_norm", tables[-1:]), count),
        zero_gradients=_mean_of(over("grad_zero_share", tables), count),
        bad_gradients=_mean_of(over("grad_bad_share", tables), count),
        bad_weights=_mean_of(over("weight_bad_share", tables), count),
        largest_weight=_largest(over("weight_max_abs", tables), count),
        largest_update=_largest(over("update_ratio", tables), count),
        mean_weight=_mean_of(over("weight_mean", tables), count),
        std_weight=_mean_of(over("weight_std", tables), count),
    )


def _windows(trace: Trace) -> tuple[NDArray[np.int64], int]:
    """The check that each step belongs to, and how many there are."""
    import numpy as np

    epochs = trace.epoch_count or 0
    if FEWEST_EPOCHS <= epochs <= MOST:
        return np.maximum(trace.steps["epoch"], 0).astype(np.int64), epochs
    count = min(MOST if epochs > MOST else SLICES, trace.step_count)
    return np.arange(trace.step_count) * count // trace.step_count, count


def _at(chosen: Floats, steps: Floats, window: NDArray[np.int64]) -> NDArray[np.int64]:
    """The checks of some steps."""
    import numpy as np

    return window[np.clip(np.searchsorted(steps, chosen), 0, len(window) - 1)]


def _means(values: Floats, window: NDArray[np.int64], count: int) -> Floats:
    import numpy as np

    found = np.full(count, math.nan)
    for number in range(count):
        inside = values[window == number]
        known = inside[~np.isnan(inside)]
        if len(known):
            found[number] = known.mean()
    return found


def _told(
    trace: Trace,
    prefixes: tuple[str, ...],
    names: tuple[str, ...],
    steps: Floats,
    window: NDArray[np.int64],
    count: int,
) -> Floats:
    """A metric that the program tells, by check: the first of these names that is there."""
    import numpy as np

    for prefix in prefixes:
        for name in names:
            found = trace.metric(f"{prefix}{name}")
            if len(found):
                # Told after its epoch, and so at a step that may count as the next one's first.
                return _means(found.values, _at(np.maximum(found.steps - 1.0, 0), steps, window), count)
    return np.full(count, math.nan)


def _gone(loss: Floats) -> Floats:
    """The share of the first loss that is gone, between -1 and 1."""
    import numpy as np

    known = loss[np.isfinite(loss)]
    if not len(known) or known[0] == 0:
        return np.full(len(loss), math.nan)
    gone: Floats = np.clip(1 - loss / known[0], -1, 1)
    return gone


def _mean_of(columns: list[Floats], count: int) -> Floats:
    import numpy as np

    return np.stack(columns).mean(axis=0) if columns else np.full(count, math.nan)


def _largest(columns: list[Floats], count: int) -> Floats:
    import numpy as np

    return np.stack(columns).max(axis=0) if columns else np.full(count, math.nan)
