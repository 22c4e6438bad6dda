"""Operators on the data: scaling, order, validation."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, number, turnable
from reenact.program.change import Remove, Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob


def scaling(knobs: Sequence[Knob]) -> Proposals:
    """Grey values stay between 0 and 255: they are divided by one."""
    for knob in turnable(knobs, Kind.PREPROCESSING):
        divisor = None if knob.absent else number(knob)
        if divisor is not None and divisor > 1:
            yield (Set(knob.id, 1.0),)


def shuffle(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.SHUFFLE):
        yield (Set(knob.id, False),)


def validation(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.VALIDATION):
        if not knob.absent:
            yield (Remove(knob.id),)
            yield (Set(knob.id, None),)


OPERATORS = (
    Operator("scaling", Fault.CPP, "Inputs are not scaled.", scaling),
    Operator("shuffle", Fault.SHF, "Training data always comes in the same order.", shuffle),
    Operator("validation", Fault.VRM, "There is no validation data.", validation, ("VRM",)),
)
