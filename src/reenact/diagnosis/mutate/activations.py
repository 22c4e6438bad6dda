"""Operators on activations: changed, removed, added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, turnable
from reenact.program.change import Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob

HIDDEN = ("sigmoid", "softmax", "exponential", "hardshrink")
"""Seldom right between layers: they squash, and stacked they let no gradient through."""
OUTPUT = ("relu", "tanh", "sigmoid", "softmax", "softsign")


def hidden(knobs: Sequence[Knob]) -> Proposals:
    """All hidden activations at once, and the first one alone."""
    found = [knob for knob in _written(knobs) if knob.role != "output"]
    for word in HIDDEN:
        changed = tuple(Set(knob.id, word) for knob in found if knob.in_force != word)
        if changed:
            yield changed
            yield changed[:1]


def output(knobs: Sequence[Knob]) -> Proposals:
    """Another one at the end; added where the loss wants the bare output."""
    for knob in turnable(knobs, Kind.ACTIVATION):
        if knob.role == "output" and not knob.absent:
            for word in OUTPUT:
                yield (Set(knob.id, word),)


def removed(knobs: Sequence[Knob]) -> Proposals:
    """All hidden ones at once; the one at the end."""
    written = list(_written(knobs))
    inside = tuple(Set(knob.id, "linear") for knob in written if knob.role != "output" and _bends(knob))
    if inside:
        yield inside
    for knob in written:
        if knob.role == "output" and _bends(knob):
            yield (Set(knob.id, "linear"),)


def added(knobs: Sequence[Knob]) -> Proposals:
    """One that bends what should be straight: at the end, or before the next layer."""
    for knob in turnable(knobs, Kind.ACTIVATION):
        if knob.absent or not _bends(knob):
            for word in OUTPUT if knob.role == "output" else HIDDEN[:1]:
                yield (Set(knob.id, word),)


def _written(knobs: Sequence[Knob]) -> Iterator[Knob]:
    return (knob for knob in turnable(knobs, Kind.ACTIVATION) if not knob.absent)


def _bends(knob: Knob) -> bool:
    return knob.in_force not in (None, "linear", "identity")


OPERATORS = (
    Operator(
        "activation-hidden", Fault.ACH, "Hidden layers are bent by a squashing activation.", hidden, ("ACH",)
    ),
    Operator("activation-output", Fault.ACH, "The output is bent by another activation.", output, ("ACH",)),
    Operator(
        "activation-removed", Fault.ARM, "Hidden layers, or the output, stay linear.", removed, ("ARM",)
    ),
    Operator("activation-added", Fault.AAL, "An output that should be bare is bent.", added, ("AAL",)),
)
