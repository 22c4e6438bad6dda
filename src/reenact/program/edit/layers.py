"""Layers themselves: taken out, repeated, put in, exchanged. Torch widths are made to fit, or the change is
refused."""

import ast
from collections.abc import Sequence

from reenact.errors import NotChangeable
from reenact.program.change import Insert
from reenact.program.edit.lists import LISTED, chain, copy_texts, insert_item, layer_text, remove_item
from reenact.program.edit.source_editor import SourceEditor, assigned
from reenact.program.edit.values import python_text
from reenact.program.read.ends import spot_of
from reenact.program.read.layers import LayerSite, Library
from reenact.program.read.positions import ContainerKind
from reenact.program.read.widths import WIDTHS, Follows, followers, why_layer_stays, width_value

HELD = (ContainerKind.ATTRIBUTE, ContainerKind.VARIABLE)


def remove_layer(editor: SourceEditor, layer: LayerSite) -> None:
    """Take a layer out; in torch the layers behind it take its input instead."""
    reason = why_layer_stays(layer)
    if reason:
        raise NotChangeable(f"The layer {layer.path} cannot be taken out: {reason}.")
    if layer.library is Library.TORCH and layer.spec.width_in is not None and layer.spec.weighted:
        _bridge(editor, layer)
    if layer.position.kind in LISTED:
        remove_item(editor, layer)
        activation = _activation_item(editor, layer)
        if activation is not None:
            remove_item(editor, activation)
    elif layer.library is Library.KERAS and layer.position.kind is ContainerKind.APPLIED:
        _unapply(editor, layer)
    elif layer.library is Library.TORCH and layer.position.kind in HELD:
        name = editor.name_for("torch.nn.Identity", layer.call)
        editor.replace(spot_of(layer.call), f"{name}()")
    else:
        raise NotChangeable(f"The layer {layer.path} stands where it cannot be taken out.")


def _bridge(editor: SourceEditor, layer: LayerSite) -> None:
    """Give the layers behind a removed one its input width."""
    value = layer.filling(layer.spec.width_in)
    if value is None:
        raise NotChangeable(f"The input width of {layer.path} is not written.")
    width, old = editor.analysis.values.compute(value), width_value(editor.analysis, layer)
    if width is not None and width == old:
        return
    own = layer.given(*WIDTHS)
    found = editor.analysis.values.find(own) if own is not None else []
    following: list[Follows] | str = "its width is unknown"
    if len(found) == 1:
        following = followers(editor.reading.models, layer, found[0].spot)
    if isinstance(following, str) or not isinstance(width, int):
        raise NotChangeable(f"The layer {layer.path} cannot be taken out alone: the widths around it differ.")
    if not following:
        raise NotChangeable(
            f"The layer {layer.path} cannot be taken out alone: the next width follows from it."
        )
    for item in following:
        editor.replace(item.spot, python_text(width * item.factor))


def _unapply(editor: SourceEditor, layer: LayerSite) -> None:
    """`x = Dense(8)(x)` goes; `y = Dense(8)(x)` becomes `y = x`."""
    index = layer.scope.index
    applied = index.parents[layer.call]
    if not isinstance(applied, ast.Call) or len(applied.args) != 1:
        raise NotChangeable(f"The layer {layer.path} is applied to more than one tensor.")
    inner, statement = applied.args[0], index.statement(applied)
    target = assigned(statement, applied)
    if isinstance(target, ast.Name) and isinstance(inner, ast.Name) and target.id == inner.id:
        editor.remove_statement(statement)
        return
    editor.in_front(applied, inner, "")
    editor.behind(applied, inner, "")


def repeat_layer(editor: SourceEditor, layer: LayerSite, times: int) -> None:
    """Put copies of a layer behind it, so that it stands there `times` times."""
    if times < 1 or times > 8:
        raise NotChangeable(f"A layer can stand there one to eight times. Received: {times}.")
    for _ in range(times - 1):
        put_after(editor, layer, copy_texts(editor, layer), again=True)


def insert_layer(editor: SourceEditor, anchor: LayerSite, change: Insert) -> None:
    """Put a new layer behind or in front of one that is there."""
    text = layer_text(editor, anchor, change.layer, change.settings, before=change.before)
    if change.before:
        _put_before(editor, anchor, text)
    else:
        put_after(editor, anchor, [text])


def put_after(editor: SourceEditor, layer: LayerSite, texts: Sequence[str], *, again: bool = False) -> None:
    """Put source texts of layers behind another one, wherever that stands; `again`: behind its activation."""
    anchor = (_activation_item(editor, layer) if again else None) or layer
    if layer.position.kind in LISTED:
        for number, text in enumerate(texts):
            insert_item(editor, anchor, text, suffix=f"{'again' if again else 'next'}{number or ''}")
    elif layer.library is Library.KERAS and layer.position.kind is ContainerKind.APPLIED:
        for text in texts:
            _apply_after(editor, layer, text)
    elif layer.library is Library.TORCH and layer.position.kind is ContainerKind.ATTRIBUTE:
        chain(editor, layer, "", f", {', '.join(texts)})")
    else:
        raise NotChangeable(f"Nothing can be put behind {layer.path} where it stands.")


def _put_before(editor: SourceEditor, layer: LayerSite, text: str) -> None:
    if layer.position.kind in LISTED:
        insert_item(editor, layer, text, "before", before=True)
    elif layer.library is Library.KERAS and layer.position.kind is ContainerKind.APPLIED:
        applied = layer.scope.index.parents[layer.call]
        if not isinstance(applied, ast.Call) or len(applied.args) != 1:
            raise NotChangeable(f"The layer {layer.path} is applied to more than one tensor.")
        editor.wrap(applied.args[0], f"{text}(", ")")
    elif layer.library is Library.TORCH and layer.position.kind is ContainerKind.ATTRIBUTE:
        chain(editor, layer, f"{text}, ", ")")
    else:
        raise NotChangeable(f"Nothing can be put in front of {layer.path} where it stands.")


def _apply_after(editor: SourceEditor, layer: LayerSite, text: str) -> None:
    """A functional Keras layer: another one is applied to its result."""
    index = layer.scope.index
    applied = index.parents[layer.call]
    statement = index.statement(layer.call)
    assert isinstance(applied, ast.Call)
    target = assigned(statement, applied)
    if isinstance(target, ast.Name):
        editor.after(statement, [f"{target.id} = {text}({target.id})"])
    else:
        editor.wrap(applied, f"{text}(", ")")


def _activation_item(editor: SourceEditor, layer: LayerSite) -> LayerSite | None:
    """The activation layer that stands in the same list behind a layer."""
    if layer.activation is None:
        return None
    call, kind = layer.activation.call, layer.position.kind
    others = (other for other in editor.reading.models.layers if other.call is call and other is not layer)
    return next((other for other in others if other.position.kind is kind), None)
