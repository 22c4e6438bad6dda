"""Do one change at the editor."""

from __future__ import annotations

from reenact.errors import NotChangeable, UnknownHyperparameter
from reenact.program.change import Change, Insert, Remove, Replace, Set
from reenact.program.edit.exchange import replace_layer, replace_optimizer
from reenact.program.edit.layers import insert_layer
from reenact.program.edit.losses import replace_loss
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.edit.turn import turn
from reenact.program.hyperparameter import Hyperparameter, HyperparameterId, Kind
from reenact.program.read.analysis import Site


def perform(editor: SourceEditor, change: Change) -> None:
    """Collect the edits of one change; raises UnknownHyperparameter, NotChangeable or PatchConflict."""
    if isinstance(change, Set):
        param, site = find(editor, change.hyperparameter)
        turn(editor, param, site, change.value)
    elif isinstance(change, Remove):
        _remove(editor, *find(editor, change.hyperparameter))
    elif isinstance(change, Replace):
        _replace(editor, change, *find(editor, change.hyperparameter))
    else:
        _insert(editor, change)


def find(editor: SourceEditor, param_id: HyperparameterId) -> tuple[Hyperparameter, Site]:
    param = editor.reading.hyperparameter(param_id)
    if param is None:
        near = [str(other.id) for other in editor.reading.hyperparameters if other.kind is param_id.kind][:5]
        raise UnknownHyperparameter(
            f"The program has no such hyperparameter. Received: {param_id}.",
            next_step=f"Hyperparameters of that kind: {', '.join(near) or 'none'}.",
        )
    return param, editor.reading.sites[param_id]


def _remove(editor: SourceEditor, param: Hyperparameter, site: Site) -> None:
    if param.absent:
        raise NotChangeable(f"{param.id} is absent already.")
    turn(editor, param, site, None)


def _replace(editor: SourceEditor, change: Replace, param: Hyperparameter, site: Site) -> None:
    if not param.changeable:
        raise NotChangeable(f"{param.id} cannot be changed: {param.reason}.")
    if param.kind in (Kind.LOSS, Kind.OPTIMIZER, Kind.LAYER) and not editor.claim(
        param.id, [change.by, dict(change.settings)]
    ):
        return
    if param.kind is Kind.LOSS:
        replace_loss(editor, param, site, change.by)
    elif param.kind is Kind.OPTIMIZER:
        replace_optimizer(editor, site, change.by, change.settings)
    elif param.kind is Kind.LAYER and site.layer is not None:
        replace_layer(editor, site.layer, change.by, change.settings)
    else:
        turn(editor, param, site, change.by)


def _insert(editor: SourceEditor, change: Insert) -> None:
    _, site = find(editor, change.anchor)
    if site.layer is None:
        raise NotChangeable(f"A layer stands beside a layer; {change.anchor} is none.")
    insert_layer(editor, site.layer, change.layer, change.settings, before=change.before)
