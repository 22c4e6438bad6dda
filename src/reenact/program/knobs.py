"""The knobs of a program, in the order of its files and lines, with alternatives that can really be made."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from reenact.errors import PatchRefused
from reenact.program.edit.losses import CLASS_LABELS
from reenact.program.edit.turn import turn
from reenact.program.edit.workshop import Workshop
from reenact.program.knob import Kind, Knob
from reenact.program.program import Program
from reenact.program.read.desk import Style
from reenact.program.read.names import plain_name
from reenact.program.read.reading import Reading, read

TRIED_STYLES = frozenset((Style.LOOP, Style.INIT, Style.APPLY, Style.LAYER))
TRIED_KINDS = frozenset((Kind.NORMALIZATION, Kind.SCHEDULER, Kind.PREPROCESSING, Kind.OPTIMIZER))
"""Changes that may turn out to be impossible; all others are a value in the place of a value."""


@lru_cache(maxsize=64)
def knobs_of(program: Program) -> tuple[Knob, ...]:
    """Every knob that the text of a program tells; nothing is run, no library is imported."""
    reading = read(program)
    order = {str(file.path): number for number, file in enumerate(program.files)}
    widths = {k.in_force for k in reading.knobs if k.kind is Kind.UNITS and k.role == "output"}
    knobs = [_for_one_output(knob) if widths == {1} else knob for knob in reading.knobs]
    found = [_possible(reading, knob) for knob in knobs]
    return tuple(sorted(found, key=lambda knob: (order.get(str(knob.place.file), 99), knob.place, knob.id)))


def _for_one_output(knob: Knob) -> Knob:
    """With a single output there are no classes to choose from: losses that count them are left out."""
    if knob.kind is not Kind.LOSS:
        return knob
    kept = tuple(value for value in knob.alternatives if not _counts_classes(str(value)))
    return replace(knob, alternatives=kept)


def _counts_classes(loss: str) -> bool:
    return "categorical" in plain_name(loss) or plain_name(loss) in CLASS_LABELS


def _possible(reading: Reading, knob: Knob) -> Knob:
    """A knob without the alternatives that its program does not allow."""
    site = reading.sites[knob.id]
    if (site.style not in TRIED_STYLES and knob.kind not in TRIED_KINDS) or not knob.alternatives:
        return knob
    kept, why = [], ""
    for value in knob.alternatives:
        shop = Workshop(reading)
        try:
            turn(shop, knob, site, value)
            shop.finish()
        except PatchRefused as refusal:
            why = refusal.sentence
        else:
            kept.append(value)
    if kept:
        return replace(knob, alternatives=tuple(kept))
    return replace(knob, alternatives=(), changeable=False, reason=why)
