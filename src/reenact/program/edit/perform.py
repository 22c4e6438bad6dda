"""Do one change at the editor."""

from __future__ import annotations

from reenact.errors import NotChangeable, UnknownKnob
from reenact.program.change import Change, Insert, Remove, Replace, Set
from reenact.program.edit.exchange import replace_layer, replace_optimizer
from reenact.program.edit.layers import insert_layer
from reenact.program.edit.losses import replace_loss
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.edit.turn import turn
from reenact.program.knob import Kind, Knob, KnobId
from reenact.program.read.analysis import Site


def perform(editor: SourceEditor, change: Change) -> None:
    """Collect the edits of one change; raises UnknownKnob, NotChangeable or PatchConflict."""
    if isinstance(change, Set):
        knob, site = find(editor, change.knob)
        turn(editor, knob, site, change.value)
    elif isinstance(change, Remove):
        _remove(editor, *find(editor, change.knob))
    elif isinstance(change, Replace):
        _replace(editor, change, *find(editor, change.knob))
    else:
        _insert(editor, change)


def find(editor: SourceEditor, knob_id: KnobId) -> tuple[Knob, Site]:
    knob = editor.reading.knob(knob_id)
    if knob is None:
        near = [str(other.id) for other in editor.reading.knobs if other.kind is knob_id.kind][:5]
        raise UnknownKnob(
            f"The program has no such knob. Received: {knob_id}.",
            next_step=f"Knobs of that kind: {', '.join(near) or 'none'}.",
        )
    return knob, editor.reading.sites[knob_id]


def _remove(editor: SourceEditor, knob: Knob, site: Site) -> None:
    if knob.absent:
        raise NotChangeable(f"{knob.id} is absent already.")
    turn(editor, knob, site, None)


def _replace(editor: SourceEditor, change: Replace, knob: Knob, site: Site) -> None:
    if not knob.changeable:
        raise NotChangeable(f"{knob.id} cannot be changed: {knob.reason}.")
    if knob.kind in (Kind.LOSS, Kind.OPTIMIZER, Kind.LAYER) and not editor.claim(
        knob.id, [change.by, dict(change.settings)]
    ):
        return
    if knob.kind is Kind.LOSS:
        replace_loss(editor, knob, site, change.by)
    elif knob.kind is Kind.OPTIMIZER:
        replace_optimizer(editor, site, change.by, change.settings)
    elif knob.kind is Kind.LAYER and site.layer is not None:
        replace_layer(editor, site.layer, change.by, change.settings)
    else:
        turn(editor, knob, site, change.by)


def _insert(editor: SourceEditor, change: Insert) -> None:
    _, site = find(editor, change.anchor)
    if site.layer is None:
        raise NotChangeable(f"A layer stands beside a layer; {change.anchor} is none.")
    insert_layer(editor, site.layer, change.layer, change.settings, before=change.before)
