"""Operators on the numbers of a training: learning rate, epochs, batch size, momentum, clipping."""

from __future__ import annotations

import math
from collections.abc import Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, number, turnable
from reenact.program.change import Remove, Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob

RATE_FACTORS = (1e-3, 100.0, 1e-5, 1000.0, 0.02, 20.0)
"""Far down and far up, by turns: DeepFD's seeds lie six and more orders away, where no one would look."""
EPOCH_FACTORS = (0.1, 0.02, 0.25)
BATCH_FACTORS = (8.0, 1 / 16)
WHOLE = 100_000
"""A batch that holds any data of the size this is for: batching is off."""


def learning_rate(knobs: Sequence[Knob]) -> Proposals:
    """Too large and too small; the smallest still representable in print."""
    for knob in turnable(knobs, Kind.LEARNING_RATE):
        rate = number(knob)
        if rate is None or rate <= 0:
            continue
        for factor in RATE_FACTORS:
            yield (Set(knob.id, _rounded(rate * factor)),)


def epochs(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.EPOCHS):
        count = number(knob)
        if count is not None and count > 1:
            for factor in EPOCH_FACTORS:
                yield (Set(knob.id, max(1, round(count * factor))),)


def batch_size(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.BATCH_SIZE):
        size = number(knob)
        if size is not None and size >= 1:
            for factor in BATCH_FACTORS:
                yield (Set(knob.id, max(1, round(size * factor))),)


def no_batches(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.BATCH_SIZE):
        yield (Set(knob.id, WHOLE),)


def momentum(knobs: Sequence[Knob]) -> Proposals:
    """Nearly all of the old direction is kept, or none."""
    for knob in turnable(knobs, Kind.MOMENTUM):
        if not knob.absent:
            yield (Set(knob.id, 0.999),)
            yield (Set(knob.id, 0.0),)


def gradient_clip(knobs: Sequence[Knob]) -> Proposals:
    """Removed, or so tight that hardly anything is left of the gradient."""
    for knob in turnable(knobs, Kind.GRADIENT_CLIP):
        if not knob.absent:
            yield (Remove(knob.id),)
            yield (Set(knob.id, None),)
        yield (Set(knob.id, 1e-4),)


def _rounded(value: float) -> float:
    digits = 2 - math.floor(math.log10(abs(value)))
    return round(value, max(0, digits))


OPERATORS = (
    Operator(
        "learning-rate",
        Fault.HLR,
        "The learning rate is far too large or too small.",
        learning_rate,
        ("HLR",),
    ),
    Operator("epochs", Fault.HNE, "Training stops long before it is done.", epochs, ("HNE",)),
    Operator("batch-size", Fault.HBS, "Batches are far larger or smaller.", batch_size, ("HBS",)),
    Operator("no-batches", Fault.HBS, "All data is one batch.", no_batches, ("HDB",)),
    Operator("momentum", Fault.HMO, "Momentum is nearly one, or gone.", momentum),
    Operator(
        "gradient-clip", Fault.GCL, "Gradients are not clipped, or to nothing.", gradient_clip, ("OCG",)
    ),
)
