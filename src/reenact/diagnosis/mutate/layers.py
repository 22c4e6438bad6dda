"""Operators on layers: dropout, taken out, repeated, made narrow, normalisation gone."""

from __future__ import annotations

from collections.abc import Sequence

from reenact.diagnosis.mutate.mutant import Operator, Proposals, number, turnable
from reenact.program.change import Remove, Set
from reenact.program.fault import Fault
from reenact.program.knob import Kind, Knob

WEIGHTED = ("hidden",)


def dropout(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.DROPOUT):
        if not knob.absent:
            for rate in (0.95, 0.8, 0.0):
                yield (Set(knob.id, rate),)


def layer_removed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.LAYER):
        if knob.role in WEIGHTED:
            yield (Set(knob.id, None),)


def layer_repeated(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.LAYER):
        if knob.role in WEIGHTED:
            for times in (2, 8):
                yield (Set(knob.id, {"repeat": times}),)


def units(knobs: Sequence[Knob]) -> Proposals:
    """So narrow that little can pass."""
    for knob in turnable(knobs, Kind.UNITS, Kind.FILTERS):
        width = number(knob)
        if knob.role in WEIGHTED and width is not None and width > 2:
            for narrow in (1, 2):
                yield (Set(knob.id, narrow),)


def normalisation_removed(knobs: Sequence[Knob]) -> Proposals:
    for knob in turnable(knobs, Kind.NORMALIZATION):
        if not knob.absent:
            yield (Set(knob.id, None),)
            yield (Remove(knob.id),)


OPERATORS = (
    Operator("dropout", Fault.RCD, "Nearly everything is dropped, or nothing.", dropout, ("RCD",)),
    Operator("layer-removed", Fault.LRM, "A hidden layer is missing.", layer_removed),
    Operator("layer-repeated", Fault.LAD, "A hidden layer stands there several times.", layer_repeated),
    Operator("units", Fault.LCN, "A hidden layer is far too narrow.", units),
    Operator("normalisation-removed", Fault.LNM, "A normalisation layer is missing.", normalisation_removed),
)
