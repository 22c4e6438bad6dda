"""The knobs of a program, in the order of its files and lines, with alternatives that can really be made."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from reenact.errors import PatchRefused
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.edit.turn import turn
from reenact.program.knob import Kind, Knob
from reenact.program.program import Program
from reenact.program.read.analysis import Style
from reenact.program.read.reading import Reading, read

TRIED_STYLES = frozenset((Style.LOOP, Style.INIT, Style.APPLY, Style.LAYER))
TRIED_KINDS = frozenset(
    (Kind.NORMALIZATION, Kind.SCHEDULER, Kind.PREPROCESSING, Kind.OPTIMIZER, Kind.MOMENTUM)
)
"""Changes that may turn out to be impossible; all others are a value in the place of a value."""


@lru_cache(maxsize=64)
def knobs_of(program: Program) -> tuple[Knob, ...]:
    """Every knob that the text of a program tells; nothing is run, no library is imported."""
    reading = read(program)
    order = {str(file.path): number for number, file in enumerate(program.files)}
    found = [_possible(reading, knob) for knob in reading.knobs]
    return tuple(sorted(found, key=lambda knob: (order.get(str(knob.place.file), 99), knob.place, knob.id)))


def _possible(reading: Reading, knob: Knob) -> Knob:
    """A knob without the alternatives that its program does not allow."""
    site = reading.sites[knob.id]
    if (site.style not in TRIED_STYLES and knob.kind not in TRIED_KINDS) or not knob.alternatives:
        return knob
    kept, why = [], ""
    for value in knob.alternatives:
        editor = SourceEditor(reading)
        try:
            turn(editor, knob, site, value)
            editor.finish()
        except PatchRefused as refusal:
            why = refusal.sentence
        else:
            kept.append(value)
    if kept:
        return replace(knob, alternatives=tuple(kept))
    return replace(knob, alternatives=(), changeable=False, reason=why)
