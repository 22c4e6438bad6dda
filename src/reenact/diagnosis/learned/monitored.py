"""The monitored features of DeepFD (Cao et al., "DeepFD: Automated Fault Diagnosis and Localization
for Deep Learning Programs", ICSE 2022): what its monitor asks at every check, with its thresholds,
each followed over time by eight statistics.

In the released table every name holds the value of the feature four places later; here names and
values are one. A check is an epoch, or a tenth of the run when there are fewer than three epochs.
What the monitor asks of accuracy is asked, for a regression, of the share of the first loss that is
gone. `weight_change_little`, which the release never sets, is set when no kernel moves by more than
1e-5 of its size in a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reenact.faults.evidence import Evidence
from reenact.faults.facts.measured import kernel_rows
from reenact.probe.trace import Columns, Trace
from reenact.program.graph import TaskType

Floats: TypeAlias = NDArray[np.float64]

THETA = 0.6
ZETA = 0.03
ETA = 0.2
DELTA = 0.01
GAMMA = 0.7
BETA1 = 1e-3
BETA2 = 1e-4
BETA3 = 70.0
LARGE_LOSS = 1e5
LARGE_WEIGHT = 5.0
LITTLE = 1e-5
STATISTICS = ("mean", "std", "skew", "median", "var", "sem", "max", "min")
BOUND = 1e6
FEWEST_EPOCHS = 3
SLICES = 10
MOST = 40
HELD_OUT = ("val_", "test_")
SCORES = (
    "accuracy",
    "acc",
    "binary_accuracy",
    "categorical_accuracy",
    "sparse_categorical_accuracy",
)


def monitored(evidence: Evidence) -> dict[str, float]:
    """22 features by 8 statistics, named `loss_mean`, `loss_std`, ..."""
    found: dict[str, float] = {}
    for name, values in _asked(evidence):
        for statistic, value in zip(STATISTICS, _over_time(values.astype(float)), strict=True):
            found[f"{name}_{statistic}"] = value
    return found


def _asked(evidence: Evidence) -> Iterator[tuple[str, Floats | NDArray[np.bool_]]]:
    loss, accuracy, held_loss, held = curves_of(evidence)
    trace = evidence.trace
    seen = trace is not None and trace.step_count > 0
    tables = [
        rows for layer in evidence.weighted if seen and len(rows := kernel_rows(evidence, layer))
    ]

    def over(
        column: str, chosen: list[Columns], combine: Callable[..., Floats] = np.mean
    ) -> Floats:
        """By check, of all kernels together; NaN where there is no kernel."""
        if trace is None or not seen:
            return np.empty(0)
        window, count = _windows(trace)
        steps = trace.steps["step"]
        rows = [
            _means(
                one[column],
                _at(one["step"], steps, window),
                count,
            )
            for one in chosen
        ]
        return combine(
            np.stack(rows or [np.full(count, math.nan)]),
            axis=0,
        )

    gap = accuracy - held
    falls = _rise(accuracy)
    first = over("grad_norm", tables[:1])
    ratio = first / np.maximum(
        over("grad_norm", tables[-1:]),
        1e-30,
    )
    best = np.fmax.accumulate(np.fmax(accuracy, held)) if len(accuracy) else accuracy
    gain = np.maximum.accumulate(np.nan_to_num(falls)) if len(falls) else falls
    yield "not_converge", best < THETA
    yield "unstable_loss", _unstable(accuracy)
    yield "nan_loss", ~np.isfinite(loss) | (held_loss >= LARGE_LOSS)
    yield "test_not_well", gap >= np.where(accuracy > 0.9, 0.07, 0.1)
    yield "test_turn_bad", (_rise(held_loss) > 0) & (_rise(loss) <= 0)
    yield "sc_accuracy", (gain < DELTA) & (np.arange(len(gain)) > 0)
    yield "died_relu", over("grad_zero_share", tables) >= GAMMA
    yield "vanish_gradient", (ratio < BETA1) & (first < BETA2)
    yield "explode_gradient", ratio > BETA3
    yield "nan_gradient", over("grad_bad_share", tables) > 0
    yield "large_weight", over("weight_max_abs", tables, np.max) > LARGE_WEIGHT
    yield "nan_weight", over("weight_bad_share", tables) > 0
    yield "weight_change_little", over("update_ratio", tables, np.max) < LITTLE
    yield "decrease_acc", falls < 0
    yield "increase_loss", _rise(loss) > 0
    yield "cons_mean_weight", np.abs(_rise(over("weight_mean", tables))) < LITTLE
    yield "cons_std_weight", np.abs(_rise(over("weight_std", tables))) < LITTLE
    yield "nan_acc", ~np.isfinite(accuracy)
    yield from (
        ("loss", loss),
        ("acc", accuracy),
        ("val_loss", held_loss),
        ("val_acc", held),
    )


def _rise(values: Floats) -> Floats:
    """The change since the check before; NaN at the first."""
    return np.diff(values, prepend=math.nan)


def _unstable(accuracy: Floats) -> Floats | NDArray[np.bool_]:
    """Whether, up to each check, swings of at least zeta were more than eta of the checks."""
    turns = np.zeros(len(accuracy))
    for at in range(1, len(accuracy) - 1):
        before = accuracy[at] - accuracy[at - 1]
        after = accuracy[at + 1] - accuracy[at]
        turns[at] = before * after < 0 and abs(after) >= ZETA
    if not len(accuracy):
        return turns
    return np.cumsum(turns) >= ETA * np.arange(
        1,
        len(accuracy) + 1,
    )


def _over_time(values: Floats) -> tuple[float, ...]:
    known = np.clip(
        values[np.isfinite(values)],
        -BOUND,
        BOUND,
    )
    if not len(known):
        return (0.0,) * len(STATISTICS)
    mean = float(known.mean())
    std = float(known.std())
    flat = std <= 1e-12 * max(1.0, abs(mean))
    skew = 0.0 if flat else float(np.mean(((known - mean) / std) ** 3))
    sem = 0.0 if len(known) < 2 else float(known.std(ddof=1) / np.sqrt(len(known)))
    return (
        mean,
        std,
        skew,
        float(np.median(known)),
        std**2,
        sem,
        float(known.max()),
        float(known.min()),
    )


def curves_of(evidence: Evidence) -> tuple[Floats, Floats, Floats, Floats]:
    """Loss and accuracy, then both on held-out data: one value a check, in order; NaN where nothing
    is known, empty without a trace. The accuracy is that on training batches; for a regression the
    share of the first loss that is gone.
    """
    trace = evidence.trace
    if trace is None or not trace.step_count:
        return (
            np.empty(0),
            np.empty(0),
            np.empty(0),
            np.empty(0),
        )
    window, count = _windows(trace)
    steps = trace.steps["step"]
    loss = _means(trace.losses.values, window, count)

    def logged(
        prefixes: tuple[str, ...],
        names: tuple[str, ...],
    ) -> Floats:
        """A metric that the program logs, by check: the first of these names that is there."""
        series = (trace.metric(f"{prefix}{name}") for prefix in prefixes for name in names)
        found = next(
            (one for one in series if len(one)),
            None,
        )
        if found is None:
            return np.full(count, math.nan)
        # Logged after its epoch, and so at a step that may count as the next one's first.
        return _means(
            found.values,
            _at(
                np.maximum(found.steps - 1.0, 0),
                steps,
                window,
            ),
            count,
        )

    held_loss = logged(HELD_OUT, ("loss",))
    held = logged(HELD_OUT, SCORES)
    accuracy = logged(("",), SCORES)
    if not np.isfinite(accuracy).any():
        accuracy = _means(trace.steps["accuracy"], window, count)
    if evidence.task is TaskType.REGRESSION or not np.isfinite(accuracy).any():
        accuracy = _gone(loss)
        held = _gone(held_loss)
    return loss, accuracy, held_loss, held


def _windows(trace: Trace) -> tuple[NDArray[np.int64], int]:
    """The check that each step belongs to, and how many there are."""
    epochs = trace.epoch_count or 0
    if FEWEST_EPOCHS <= epochs <= MOST:
        return np.maximum(trace.steps["epoch"], 0).astype(np.int64), epochs
    count = min(MOST if epochs > MOST else SLICES, trace.step_count)
    return np.arange(trace.step_count) * count // trace.step_count, count


def _at(
    chosen: Floats,
    steps: Floats,
    window: NDArray[np.int64],
) -> NDArray[np.int64]:
    """The checks of some steps."""
    return window[
        np.clip(
            np.searchsorted(steps, chosen),
            0,
            len(window) - 1,
        )
    ]


def _means(values: Floats, window: NDArray[np.int64], count: int) -> Floats:
    found = np.full(count, math.nan)
    for number in range(count):
        inside = values[window == number]
        known = inside[~np.isnan(inside)]
        if len(known):
            found[number] = known.mean()
    return found


def _gone(loss: Floats) -> Floats:
    """The share of the first loss that is gone, between -1 and 1."""
    known = loss[np.isfinite(loss)]
    if not len(known) or known[0] == 0:
        return np.full(len(loss), math.nan)
    gone: Floats = np.clip(
        1 - loss / known[0],
        -1,
        1,
    )
    return gone
