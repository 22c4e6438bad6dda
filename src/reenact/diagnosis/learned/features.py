"""What the detector sees of a training: named numbers in a fixed order, none of them NaN.

DeepFD's monitored ones, those of what is written, and here those of what was seen beyond DeepFD's monitor:
how far steps move the weights, gradients along the depth, dead and saturated units, the shape of the loss.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from reenact.diagnosis.learned.monitored import checks_of, monitored
from reenact.diagnosis.learned.written import UNKNOWN, log10, majority, written
from reenact.probe.trace import Columns
from reenact.rules.evidence import Evidence
from reenact.rules.measured import kernel_rows, output_rows

Floats: TypeAlias = NDArray[np.float64]

END = 0.25
"""The first and the last quarter of what was sampled are its beginning and its end."""
SHARES = ("zero_share", "saturated_share", "dead_unit_share", "beyond_5_share")


def features(evidence: Evidence) -> dict[str, float]:
    """DeepFD's monitored features and ours; what is not known has a value that no known one has, or 0."""
    with np.errstate(all="ignore"):
        found = monitored(evidence) | written(evidence) | observed(evidence)
    return {name: _finite(value) for name, value in found.items()}


def matrix(rows: Sequence[Mapping[str, float]], names: Sequence[str]) -> NDArray[np.float32]:
    """Rows of features as an array with these columns; what a row lacks is 0."""
    return np.array([[row.get(name, 0.0) for name in names] for row in rows], dtype=np.float32)


def _finite(value: float) -> float:
    return max(-1e9, min(1e9, float(value))) if math.isfinite(value) else 0.0


def observed(evidence: Evidence) -> dict[str, float]:
    """Everything that a run adds."""
    found: dict[str, float] = {}
    for part in (_length, _curve, _movement, _gradients, _outputs):
        found |= dict(part(evidence))
    return found


def _length(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Steps, not epochs or rows of a batch: those are few or many only beside the data, and a detector would
    learn the sizes of the programs that it knows."""
    trace = evidence.trace
    steps = trace.step_count if trace is not None else 0
    epochs = (trace.epoch_count or 0) if trace is not None else 0
    yield "steps_log", log10(float(steps)) if steps else UNKNOWN
    yield "steps_an_epoch", log10(steps / epochs) if steps and epochs else UNKNOWN


def _curve(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """The loss relative to where it began, so that its scale does not matter."""
    trace = evidence.trace
    every = trace.losses.values if trace is not None else np.empty(0)
    loss = _known(every)
    first, last = _ends(loss)
    lowest = float(_smooth(loss).min()) if len(loss) else math.nan
    yield "loss_change", _relative(last, first)
    yield "loss_best", _relative(lowest, first)
    yield "loss_from_best", _relative(last, lowest)
    half = _smooth(loss)[len(loss) // 2 :]
    yield "loss_late_change", _relative(*(_ends(half)[::-1])) if len(half) else UNKNOWN
    yield "loss_rough", _rough(loss)
    yield "loss_bad", float(np.mean(~np.isfinite(every))) if len(every) else 0.0
    yield "loss_exactly_still", float(np.mean(np.diff(loss) == 0)) if len(loss) > 1 else 0.0
    checks = checks_of(evidence)
    accuracy, held = _known(checks.accuracy), _known(checks.held_accuracy)
    most_common = majority(evidence)
    yield "accuracy_gain", float(accuracy[-1] - accuracy[0]) if len(accuracy) else 0.0
    yield "accuracy_last", float(accuracy[-1]) if len(accuracy) else -1.0
    yield (
        "accuracy_over_majority",
        float(accuracy[-1] - most_common) if len(accuracy) and most_common else 0.0,
    )
    yield "accuracy_late_gain", float(accuracy[-1] - accuracy[len(accuracy) // 2]) if len(accuracy) else 0.0
    yield "held_late_gain", float(held[-1] - held[len(held) // 2]) if len(held) else 0.0
    yield "held_gap", float(accuracy[-1] - held[-1]) if len(accuracy) and len(held) else 0.0


def _movement(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Update sizes as a share of the weights, per kernel: the slowest, the middle and the fastest."""
    tables = [rows for layer in evidence.weighted if len(rows := kernel_rows(evidence, layer))]
    early, late = _each(tables, "update_ratio")
    for name, values in (("early", early), ("late", late)):
        yield f"update_least_{name}", log10(min(values)) if values else UNKNOWN
        yield f"update_middle_{name}", log10(float(np.median(values))) if values else UNKNOWN
        yield f"update_most_{name}", log10(max(values)) if values else UNKNOWN
    before, after = _each(tables, "weight_norm")
    growth = [_relative(new, old) for old, new in zip(before, after, strict=True)]
    yield "weights_least_growth", min(growth, default=0.0)
    yield "weights_most_growth", max(growth, default=0.0)


def _gradients(evidence: Evidence) -> Iterator[tuple[str, float]]:
    tables = [rows for layer in evidence.weighted if len(rows := kernel_rows(evidence, layer))]
    early, late = _each(tables, "grad_norm")
    for name, values in (("early", early), ("late", late)):
        yield f"gradient_first_{name}", log10(values[0]) if values else UNKNOWN
        yield f"gradient_last_{name}", log10(values[-1]) if values else UNKNOWN
        yield f"gradient_ratio_{name}", _relative(values[0], values[-1]) if values else UNKNOWN
    _, zeros = _each(tables, "grad_zero_share")
    yield "gradient_zero_most", max(zeros, default=0.0)


def _outputs(evidence: Evidence) -> Iterator[tuple[str, float]]:
    """Shares of units that are off, at their bounds or dead, in the worst layer, at the end of the run."""
    bent = [layer for layer in evidence.layers if layer.own_activation or layer.weighted]
    tables = [rows for layer in bent if len(rows := output_rows(evidence, layer))]
    for column in SHARES:
        early, late = _each(tables, column)
        yield f"{column}_early", max(early, default=0.0)
        yield f"{column}_late", max(late, default=0.0)
    early, late = _each(tables[-1:], "std")
    yield "output_spread_early", log10(early[0]) if early else UNKNOWN
    yield "output_spread_late", log10(late[0]) if late else UNKNOWN


def _each(tables: list[Columns], column: str) -> tuple[list[float], list[float]]:
    """A column at the beginning and at the end, for each table in which it is known."""
    pairs = [_ends(_known(rows[column])) for rows in tables]
    known = [pair for pair in pairs if not math.isnan(pair[0])]
    return [early for early, _ in known], [late for _, late in known]


def _ends(values: Floats) -> tuple[float, float]:
    """Median of the beginning and of the end; NaN for nothing."""
    if not len(values):
        return math.nan, math.nan
    few = max(1, min(20, int(END * len(values))))
    return float(np.median(values[:few])), float(np.median(values[-few:]))


def _known(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _smooth(values: Floats) -> Floats:
    """Moving mean over a twentieth of the run."""
    width = max(1, len(values) // 20)
    return np.convolve(values, np.ones(width) / width, mode="valid") if len(values) else values


def _relative(new: float, old: float) -> float:
    """Logarithm of a quotient, between -6 and 6; 0 when one of them is unknown."""
    if math.isnan(new) or math.isnan(old):
        return 0.0
    return max(-6.0, min(6.0, log10(abs(new)) - log10(abs(old))))


def _rough(loss: Floats) -> float:
    """How much of the loss's movement is to and fro."""
    if len(loss) < 3:
        return 0.0
    way = float(np.abs(np.diff(loss)).sum())
    return 1 - abs(float(loss[-1] - loss[0])) / way if way > 0 else 0.0
