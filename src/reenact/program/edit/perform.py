"""Do one change at the workshop."""

from __future__ import annotations

from reenact.errors import NotChangeable, UnknownKnob
from reenact.program.change import Change, Insert, Remove, Replace, Set
from reenact.program.edit.exchange import replace_layer, replace_optimizer
from reenact.program.edit.layers import insert_layer
from reenact.program.edit.losses import replace_loss
from reenact.program.edit.turn import turn
from reenact.program.edit.workshop import Workshop
from reenact.program.knob import Kind, Knob, KnobId
from reenact.program.read.desk import Site


def perform(shop: Workshop, change: Change) -> None:
    """Collect the edits of one change; raises UnknownKnob, NotChangeable or PatchConflict."""
    if isinstance(change, Set):
        knob, site = find(shop, change.knob)
        turn(shop, knob, site, change.value)
    elif isinstance(change, Remove):
        _remove(shop, *find(shop, change.knob))
    elif isinstance(change, Replace):
        _replace(shop, change, *find(shop, change.knob))
    else:
        _insert(shop, change)


def find(shop: Workshop, knob_id: KnobId) -> tuple[Knob, Site]:
    knob = shop.reading.knob(knob_id)
    if knob is None:
        near = [str(other.id) for other in shop.reading.knobs if other.kind is knob_id.kind][:5]
        raise UnknownKnob(
            f"The program has no such knob. Received: {knob_id}.",
            next_step=f"Knobs of that kind: {', '.join(near) or 'none'}.",
        )
    return knob, shop.reading.sites[knob_id]


def _remove(shop: Workshop, knob: Knob, site: Site) -> None:
    if knob.absent:
        raise NotChangeable(f"{knob.id} is absent already.")
    turn(shop, knob, site, None)


def _replace(shop: Workshop, change: Replace, knob: Knob, site: Site) -> None:
    if not knob.changeable:
        raise NotChangeable(f"{knob.id} cannot be changed: {knob.reason}.")
    if knob.kind in (Kind.LOSS, Kind.OPTIMIZER, Kind.LAYER) and not shop.claim(
        knob.id, [change.by, dict(change.settings)]
    ):
        return
    if knob.kind is Kind.LOSS:
        replace_loss(shop, knob, site, change.by)
    elif knob.kind is Kind.OPTIMIZER:
        replace_optimizer(shop, site, change.by, change.settings)
    elif knob.kind is Kind.LAYER and site.layer is not None:
        replace_layer(shop, site.layer, change.by, change.settings)
    else:
        turn(shop, knob, site, change.by)


def _insert(shop: Workshop, change: Insert) -> None:
    _, site = find(shop, change.anchor)
    if site.layer is None:
        raise NotChangeable(f"A layer stands beside a layer; {change.anchor} is none.")
    insert_layer(shop, site.layer, change.layer, change.settings, before=change.before)
