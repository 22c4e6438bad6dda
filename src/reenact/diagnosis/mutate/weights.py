"""Operators on weights: how they begin, and how much they are held back."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, turnable
from reenact.program.change import Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob
from reenact.types import JsonValue

INITS = ("zeros", "ones", "random_normal", "zeros_", "ones_", "normal_", "uniform_")
"""Constant, or (PyTorch's `normal_`, `uniform_`) with a deviation that knows nothing of the layer's width."""
DECAYS = (0.3, 0.05)
REGULARIZERS: tuple[JsonValue, ...] = ("l2", "l1", "l1_l2")


def initial_weights(knobs: Sequence[Knob]) -> Proposals:
    """All layers, and the first one alone."""
    found = list(turnable(knobs, Kind.WEIGHT_INIT))
    for name in INITS:
        fitting = [knob for knob in found if name.endswith("_") == (knob.library == "torch")]
        if fitting:
            yield tuple(Set(knob.id, name) for knob in fitting)
            yield (Set(fitting[0].id, name),)


def initial_biases(knobs: Sequence[Knob]) -> Proposals:
    found = list(turnable(knobs, Kind.BIAS_INIT))
    for name in ("ones", "ones_", "normal_"):
        fitting = [knob for knob in found if name.endswith("_") == (knob.library == "torch")]
        if fitting:
            yield tuple(Set(knob.id, name) for knob in fitting)


def regularisation(knobs: Sequence[Knob]) -> Proposals:
    """Put on every layer, with the library's own strength (0.01)."""
    found = [knob for knob in turnable(knobs, Kind.WEIGHT_REGULARIZER) if knob.absent]
    for name in REGULARIZERS:
        if found:
            yield tuple(Set(knob.id, name) for knob in found)


def regularisation_changed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.WEIGHT_REGULARIZER):
        if not knob.absent:
            for name in REGULARIZERS:
                yield (Set(knob.id, name),)


def regularisation_removed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.WEIGHT_REGULARIZER):
        if not knob.absent:
            yield (Set(knob.id, None),)


def weight_decay(knobs: Sequence[Knob]) -> Proposals:
    """So strong that the weights cannot grow: PyTorch's way to regularise."""
    for knob in turnable(knobs, Kind.WEIGHT_DECAY):
        for value in DECAYS:
            yield (Set(knob.id, value),)


OPERATORS = (
    Operator(
        "weight-init",
        Fault.WCI,
        "Weights begin constant, or with the wrong spread.",
        initial_weights,
        ("WCI",),
    ),
    Operator("bias-init", Fault.BCI, "Biases begin far from zero.", initial_biases),
    Operator("regularisation", Fault.RAW, "Every layer is held back.", regularisation, ("RAW",)),
    Operator(
        "regularisation-changed", Fault.RAW, "A layer is held back more.", regularisation_changed, ("RCW",)
    ),
    Operator(
        "regularisation-removed",
        Fault.RAW,
        "A layer is no longer held back.",
        regularisation_removed,
        ("RRW",),
    ),
    Operator("weight-decay", Fault.RAW, "The optimiser shrinks the weights too much.", weight_decay),
)
