"""What a changed program is compared with while it trains: the curves of the unchanged program.

The rule itself is in `inject/reenact_trials_stop.py`, as it runs in the training.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from reenact.program.edit.change import Replace, Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import Program
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.folder import injected
from reenact.trials.metric import STEP_LOSS, Measure, kind_of, least_gain, prefix_of
from reenact.trials.trial import Baseline, Curve, Outcome

OFTEN = 4
"""Times that a metric is logged in a training from which on it says how that goes."""
FEWEST = 0.25
"""Times the steps for a larger batch, at least: it may be larger than the data. A training that
takes fewer steps than expected is only ended later.
"""
POINTS = 50
"""Of a curve that is handed to a training."""


def watched_metric(outcome: Outcome, measure: Measure) -> str:
    """The metric to look at on the way: the one that judges, or one of its kind on other data where
    that one comes at the end only; empty where there is none.
    """
    if _often(outcome.curve(measure.name)):
        return measure.name
    kind = kind_of(measure.name)
    order = ("val_", "test_", "", "train_")
    alike = [
        name for name in outcome.sources if kind_of(name) == kind and _often(outcome.curve(name))
    ]
    return min(alike, key=lambda name: (order.index(prefix_of(name)), name), default="")


def _often(curve: Curve) -> bool:
    return len({step for step, _ in curve}) >= OFTEN


def baseline_from(
    outcomes: Sequence[Outcome], measure: Measure, *, bounded: bool
) -> Baseline | None:
    """The curves of the unchanged program, where they say how a training goes."""
    trained = [one for one in outcomes if one.trained and not one.stopped]
    watched = watched_metric(trained[0], measure) if trained else ""
    name = watched or STEP_LOSS
    curves = [one.curve(name) for one in trained]
    steps = [one.steps for one in trained]
    larger = bool(watched) and measure.larger_is_better
    source = trained[0].sources.get(name, "") if trained else ""
    return baseline_of(
        watched,
        curves,
        steps,
        larger=larger,
        bounded=bounded,
        source=source,
    )


def baseline_of(
    watched: str,
    curves: Sequence[Curve],
    steps: Sequence[int],
    *,
    larger: bool,
    bounded: bool,
    source: str,
) -> Baseline | None:
    """The same from curves and numbers of steps; the loss of the steps where no metric is watched.
    None where there are too few points.
    """
    sign = 1 if larger else -1
    oriented = tuple(
        tuple((step / total, sign * value) for step, value in curve)
        for curve, total in zip(curves, steps, strict=True)
        if total and _often(curve) and all(value == value for _, value in curve)
    )
    if not oriented:
        return None
    last = median(curve[-1][1] for curve in oriented)
    gain = least_gain(last, bounded=bounded) if watched else 0.0
    strides = (max(1, -(-len(curve) // POINTS)) for curve in oriented)
    thinned = (
        curve[(len(curve) - 1) % by :: by] for curve, by in zip(oriented, strides, strict=True)
    )
    kept = tuple(
        tuple(
            (
                round(at, 4),
                float(f"{value:.6g}"),
            )
            for at, value in curve
        )
        for curve in thinned
    )
    name = watched or STEP_LOSS
    whole = float(median(steps))
    return Baseline(
        name,
        source,
        larger,
        whole,
        kept,
        target=last + gain,
        least=gain,
    )


def is_hopeless(points: Curve, base: Baseline, **constants: float) -> bool:
    """What the rule says of a training with these steps and values so far."""
    sign = 1 if base.larger else -1
    shares = [(step / base.steps, sign * value) for step, value in points]
    kind = "loss" if base.is_loss else "metric"
    rule = injected("reenact_trials_stop").hopeless
    return bool(
        rule(
            shares,
            base.curves,
            base.target,
            base.least,
            kind,
            **constants,
        )
    )


def steps_factor(
    program: Program, patch: Patch, *, least: float = FEWEST, most: float = math.inf
) -> float:
    """Times as many steps as the program takes, by its epochs and its batch size; what the batch
    size does lies between `least` and `most`.
    """
    factor = 1.0
    values = {param.id: param.in_force for param in hyperparameters_of(program)}
    for change in patch.changes:
        kind = change.hyperparameter.kind if isinstance(change, Set) else None
        if not isinstance(change, Set) or kind not in (Kind.EPOCHS, Kind.BATCH_SIZE):
            continue
        old = values.get(change.hyperparameter)
        new = change.value
        if isinstance(old, int | float) and isinstance(new, int | float) and old > 0 and new > 0:
            factor *= new / old if kind is Kind.EPOCHS else min(most, max(least, old / new))
    return factor


def touches_loss(patch: Patch) -> bool:
    """Whether it exchanges the loss: then losses cannot be compared."""
    changed = (change for change in patch.changes if isinstance(change, Set | Replace))
    return any(change.hyperparameter.kind is Kind.LOSS for change in changed)
