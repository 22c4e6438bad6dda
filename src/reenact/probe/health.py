"""Layers that look wrong at a glance: what any reader of the numbers would point at. The rules
say why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from reenact.probe.trace import Trace
from reenact.types import Place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEAD_SHARE = 0.7
SATURATED_SHARE = 0.5
VANISHED = 1e-7
RATIO_LOW, RATIO_HIGH = 1e-5, 0.1


@dataclass(frozen=True, slots=True)
class LayerHealth:
    """One layer in the last steps that were looked at."""

    name: str
    place: Place | None
    mean: float
    std: float
    dead_share: float
    """Share of units that are never positive, for layers that a ReLU follows or that are one."""
    saturated_share: float
    gradient: float
    """Mean size of the gradient that comes back to its output."""
    update_ratio: float
    """How far its weights move in a step, relative to their size."""
    remarks: tuple[str, ...] = ()


def layer_health(trace: Trace) -> tuple[LayerHealth, ...]:
    """Every layer that was looked at, in order."""
    places = {layer.name: layer.place for layer in trace.graph.layers} if trace.graph else {}
    ratios = dict.fromkeys(trace.layer_names, math.nan) | _ratios(trace)
    return tuple(
        _layer(
            trace,
            name,
            places.get(name),
            ratios[name],
        )
        for name in trace.layer_names
    )


def _layer(
    trace: Trace,
    name: str,
    place: Place | None,
    ratio: float,
) -> LayerHealth:
    def last(column: str) -> float:
        return _recent(trace.layer(name, column).values)

    shares = last("dead_unit_share"), last("saturated_share")
    health = LayerHealth(
        name,
        place,
        last("mean"),
        last("std"),
        *shares,
        last("grad_mean_abs"),
        ratio,
    )
    broken = last("bad_share") > 0 or last("grad_bad_share") > 0
    return replace(health, remarks=tuple(_remarks(health, broken)))


def _remarks(health: LayerHealth, broken: bool) -> Iterator[str]:
    if broken:
        yield "NaN or infinite values"
    if health.dead_share >= DEAD_SHARE:
        yield f"{health.dead_share:.0%} of the units are dead"
    if health.saturated_share > SATURATED_SHARE:
        yield f"{health.saturated_share:.0%} saturated"
    if health.gradient < VANISHED:
        yield "its gradient has vanished"
    if health.update_ratio > RATIO_HIGH:
        yield "steps too large for its weights"
    if health.update_ratio < RATIO_LOW:
        yield "its weights hardly move"


def _ratios(trace: Trace) -> dict[str, float]:
    """Update ratio of each layer's largest tensor."""
    ratios = {}
    for layer in trace.graph.layers if trace.graph is not None else ():
        if layer.weights:
            largest = max(layer.weights, key=lambda weight: math.prod(weight.shape))
            ratios[layer.name] = _recent(trace.parameter(largest.path, "update_ratio").values)
    return ratios


def _recent(values: NDArray[np.float64], count: int = 5) -> float:
    """Median of the last values, NaN when there is none."""
    import numpy as np

    known = values[-count:]
    known = known[~np.isnan(known)]
    return float(np.median(known)) if len(known) else float("nan")
