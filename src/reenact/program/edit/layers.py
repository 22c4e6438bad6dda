"""Layers themselves: taken out, repeated, put in, exchanged. Torch widths are made to fit, or the
change is refused.
"""

import ast
from collections.abc import Sequence

from reenact.errors import NotChangeable
from reenact.program.edit.change import Insert
from reenact.program.edit.lists import (
    LISTED,
    chain,
    copy_texts,
    insert_item,
    layer_text,
    remove_item,
)
from reenact.program.edit.source_editor import SourceEditor, assigned, known
from reenact.program.edit.values import python_text
from reenact.program.flow.ends import spot_of
from reenact.program.syntax.calls import is_name
from reenact.program.syntax.index import statement_of
from reenact.program.training.layers import LayerSite
from reenact.program.training.model import WIDTHS, followers, why_layer_stays, width_value
from reenact.program.training.positions import ContainerKind
from reenact.types import JsonValue

HELD = (ContainerKind.ATTRIBUTE, ContainerKind.VARIABLE)


def remove_layer(editor: SourceEditor, layer: LayerSite) -> None:
    """Take a layer out; in torch the later layers take its input instead."""
    reason = why_layer_stays(layer)
    if reason:
        raise NotChangeable(f"The layer {layer.path} cannot be taken out: {reason}.")
    if layer.library == "torch" and layer.spec.width_in is not None and layer.spec.weighted:
        _bridge(editor, layer)
    if layer.position.kind in LISTED:
        for item in filter(None, (layer, _activation_item(editor, layer))):
            remove_item(editor, item)
    elif layer.library == "keras" and layer.position.kind is ContainerKind.APPLIED:
        _unapply(editor, layer)
    elif layer.library == "torch" and layer.position.kind in HELD:
        name = editor.name_for("torch.nn.Identity", layer.call)
        editor.replace(
            spot_of(layer.call),
            f"{name}()",
        )
    else:
        raise NotChangeable(f"The layer {layer.path} is where it cannot be taken out.")


def _bridge(editor: SourceEditor, layer: LayerSite) -> None:
    """Give the layers after a removed one its input width."""
    values = editor.analysis.values
    given = known(
        layer.filling(layer.spec.width_in),
        f"The input width of {layer.path} is not written.",
    )
    width = values.compute(given)
    old = width_value(editor.analysis, layer)
    if width is not None and width == old:
        return
    found = values.find(layer.given(*WIDTHS))
    alone = f"The layer {layer.path} cannot be taken out alone"
    following = (
        followers(
            editor.reading.models,
            layer,
            found[0].spot,
        )
        if len(found) == 1
        else ""
    )
    if isinstance(following, str) or not isinstance(width, int):
        raise NotChangeable(f"{alone}: the widths around it differ.")
    if not following:
        raise NotChangeable(f"{alone}: the next width follows from it.")
    for item in following:
        editor.replace(
            item.spot,
            python_text(width * item.factor),
        )


def _unapply(editor: SourceEditor, layer: LayerSite) -> None:
    """`x = Dense(8)(x)` goes; `y = Dense(8)(x)` becomes `y = x`."""
    applied = _application(layer, alone=True)
    statement = statement_of(layer.call)
    inner = applied.args[0]
    target = assigned(statement, applied)
    if isinstance(target, ast.Name) and is_name(inner, target.id):
        editor.remove_statement(statement)
        return
    editor.in_front(applied, inner, "")
    editor.behind(applied, inner, "")


def set_layer(editor: SourceEditor, layer: LayerSite, value: JsonValue) -> None:
    """Take a layer out (none), or put copies after it, so that it is there as often as it
    should.
    """
    if value is None:
        remove_layer(editor, layer)
        return
    times = value.get("repeat") if isinstance(value, dict) else None
    if not isinstance(times, int):
        usual = '{"repeat": 2}'
        raise NotChangeable(
            f"A layer is taken out (null) or repeated ({usual}). Received: {value!r}."
        )
    if times < 1 or times > 8:
        raise NotChangeable(f"A layer can be there one to eight times. Received: {times}.")
    for _ in range(times - 1):
        _put(editor, layer, copy_texts(editor, layer), again=True)


def insert_layer(editor: SourceEditor, anchor: LayerSite, change: Insert) -> None:
    """Put a new layer after or in front of one that is there."""
    text = layer_text(
        editor,
        anchor,
        change.layer,
        change.settings,
        before=change.before,
    )
    _put(editor, anchor, [text], before=change.before)


def _put(
    editor: SourceEditor,
    layer: LayerSite,
    texts: Sequence[str],
    *,
    before: bool = False,
    again: bool = False,
) -> None:
    """Put texts of layers after another one, or in front of it; `again`: after its activation."""
    kind = layer.position.kind
    if kind in LISTED:
        anchor = (_activation_item(editor, layer) if again else None) or layer
        word = "again" if again else "next"
        if before:
            word = "before"
        for number, text in enumerate(texts):
            insert_item(
                editor,
                anchor,
                text,
                f"{word}{number or ''}",
                before=before,
            )
    elif layer.library == "keras" and kind is ContainerKind.APPLIED:
        for text in texts:
            _apply(editor, layer, text, before=before)
    elif layer.library == "torch" and kind is ContainerKind.ATTRIBUTE:
        given = ", ".join(texts)
        chain(
            editor,
            layer,
            f"{given}, " if before else "",
            ")" if before else f", {given})",
        )
    else:
        side = "in front of" if before else "behind"
        raise NotChangeable(f"Nothing can be put {side} {layer.path} where it is.")


def _apply(editor: SourceEditor, layer: LayerSite, text: str, *, before: bool) -> None:
    """A functional Keras layer: another one is applied to its input, or to its result."""
    applied = _application(layer, alone=before)
    statement = statement_of(layer.call)
    target = assigned(statement, applied)
    if isinstance(target, ast.Name) and not before:
        editor.after(
            statement,
            f"{target.id} = {text}({target.id})",
        )
    else:
        editor.wrap(
            applied.args[0] if before else applied,
            f"{text}(",
            ")",
        )


def _application(layer: LayerSite, *, alone: bool) -> ast.Call:
    """The call that applies a functional layer; `alone`: to one tensor."""
    applied = layer.scope.index.parents[layer.call]
    if not isinstance(applied, ast.Call) or (alone and len(applied.args) != 1):
        raise NotChangeable(f"The layer {layer.path} is applied to more than one tensor.")
    return applied


def _activation_item(editor: SourceEditor, layer: LayerSite) -> LayerSite | None:
    """The activation layer that stands in the same list after a layer."""
    by_call = editor.reading.models.applied.by_call
    other = by_call.get(layer.activation.call) if layer.activation is not None else None
    beside = other is not None and other is not layer and other.position.kind is layer.position.kind
    return other if beside else None
