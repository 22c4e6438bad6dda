"""The source text of a new layer: its name as the file calls it, its settings, and a width that fits its
neighbour."""

from __future__ import annotations

from collections.abc import Mapping

from reenact.errors import NotChangeable
from reenact.program.edit.literals import python_text
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.read import keras_words, torch_words
from reenact.program.read.activations import Way
from reenact.program.read.calls import argument
from reenact.program.read.layers import LayerSite, Library
from reenact.program.read.seats import Sitting
from reenact.program.read.vocabulary import Family
from reenact.types import JsonValue

ONCE = frozenset(("name", "input_shape", "input_dim", "input_length", "batch_input_shape"))
"""Arguments that only one layer of a model may have."""
STRIDES = frozenset(("strides", "padding"))


def layer_text(
    editor: SourceEditor, anchor: LayerSite, name: str, settings: Mapping[str, JsonValue], *, before: bool
) -> str:
    """A constructor call for a layer of this name beside an anchor."""
    if anchor.library is Library.KERAS:
        return _keras_text(editor, anchor, name, settings)
    return _torch_text(editor, anchor, name, settings, before=before)


def _keras_text(editor: SourceEditor, anchor: LayerSite, name: str, settings: Mapping[str, JsonValue]) -> str:
    if name not in keras_words.LAYERS:
        raise NotChangeable(f"Keras has no layer of that name. Received: {name!r}.")
    given = dict(settings)
    if name == "Dense" and "units" not in given:
        given["units"] = _units(editor, anchor)
    if keras_words.LAYERS[name].family is Family.DROPOUT and not {"rate", "p"} & set(given):
        given["rate"] = 0.5
    called = editor.name_for(f"keras.layers.{name}", anchor.scope, anchor.call)
    return f"{called}({_arguments(given)})"


def _units(editor: SourceEditor, anchor: LayerSite) -> JsonValue:
    for slot in anchor.spec.slots:
        value = argument(anchor.call, slot.position, *slot.names)
        if slot.kind == "units" and value is not None:
            return editor.analysis.values.compute(value, anchor.scope)
    raise NotChangeable(f"How wide a layer beside {anchor.path} should be is not written; give `units`.")


def _torch_text(
    editor: SourceEditor, anchor: LayerSite, name: str, settings: Mapping[str, JsonValue], *, before: bool
) -> str:
    if name not in torch_words.LAYERS:
        raise NotChangeable(f"PyTorch has no layer of that name. Received: {name!r}.")
    spec = torch_words.LAYERS[name]
    parts = []
    if spec.width_in is not None and not any(word in settings for word in spec.width_in.names):
        width = _in_text(editor, anchor) if before else out_text(editor, anchor)
        if spec.family is Family.NORM:
            parts.append(width if name != "GroupNorm" else f"1, {width}")
        elif spec.weighted:
            parts += [width, width] if not any(word in settings for word in spec.slots[0].names) else [width]
    elif spec.family is Family.ACTIVATION and name in ("Softmax", "LogSoftmax") and "dim" not in settings:
        parts.append("dim=1")
    called = editor.name_for(f"torch.nn.{name}", anchor.scope, anchor.call)
    given = _arguments(settings)
    return f"{called}({', '.join([*parts, given] if given else parts)})"


def replacement_text(
    editor: SourceEditor, layer: LayerSite, name: str, settings: Mapping[str, JsonValue]
) -> str:
    """A constructor call for another layer in the place of one: torch widths are taken over."""
    spec = torch_words.LAYERS.get(name)
    if layer.library is Library.KERAS or spec is None or not (spec.weighted and layer.spec.weighted):
        return layer_text(editor, layer, name, settings, before=False)
    called = editor.name_for(f"torch.nn.{name}", layer.scope, layer.call)
    given = _arguments(settings)
    words = [_in_text(editor, layer), out_text(editor, layer), *([given] if given else [])]
    return f"{called}({', '.join(words)})"


def out_text(editor: SourceEditor, layer: LayerSite) -> str:
    """The output width of a layer as its source writes it."""
    for slot in layer.spec.slots:
        value = argument(layer.call, slot.position, *slot.names)
        if slot.kind in ("units", "filters") and value is not None:
            return editor.text(value, layer.scope)
    if layer.spec.width_in is not None and layer.spec.family is Family.NORM:
        return _in_text(editor, layer)
    for before in editor.reading.models.layers:
        if layer in before.feeds or layer in before.reaches:
            return out_text(editor, before)
    raise NotChangeable(f"How wide the output of {layer.path} is cannot be told.")


def _in_text(editor: SourceEditor, layer: LayerSite) -> str:
    slot = layer.spec.width_in
    value = argument(layer.call, slot.position, *slot.names) if slot is not None else None
    if value is None:
        raise NotChangeable(f"How wide the input of {layer.path} is cannot be told.")
    return editor.text(value, layer.scope)


def copy_texts(editor: SourceEditor, layer: LayerSite) -> list[str]:
    """The same layer once more, its own output the copy's input, with the activation that two torch layers
    need.

    In a list the copy stands behind the layer's activation and brings one along; under an attribute, whose
    activation the forward code applies, it stands behind a new one.
    """
    copied = _copy_text(editor, layer)
    if layer.library is Library.KERAS or not layer.spec.weighted:
        return [copied]
    activation = layer.activation
    listed = layer.seat.sitting in (Sitting.ELEMENT, Sitting.NAMED, Sitting.APPEND, Sitting.ADD)
    if activation is not None and activation.way is Way.LAYER and listed:
        return [copied, _one_line(editor.text(activation.call, activation.scope))]
    word = (
        activation.word
        if activation is not None and activation.word in ("tanh", "gelu", "elu", "selu")
        else "relu"
    )
    name = editor.name_for(f"torch.nn.{torch_words.ACTIVATION_CLASSES[word]}", layer.scope, layer.call)
    return [f"{name}()", copied]


def _copy_text(editor: SourceEditor, layer: LayerSite) -> str:
    call, scope = layer.call, layer.scope
    pieces = []
    once = ONCE | STRIDES if _keeps_size(layer) else ONCE
    slot = layer.spec.width_in if layer.library is Library.TORCH and layer.spec.weighted else None
    replaced = argument(call, slot.position, *slot.names) if slot is not None else None
    for part in call.args[:2] if once is not ONCE else call.args:
        pieces.append(out_text(editor, layer) if part is replaced else editor.text(part, scope))
    for given in call.keywords:
        if given.arg in once:
            continue
        text = out_text(editor, layer) if given.value is replaced else editor.text(given.value, scope)
        pieces.append(f"{given.arg}={text}" if given.arg else f"**{text}")
    if once is not ONCE:
        pieces.append('padding="same"')
    return f"{editor.text(call.func, scope)}({', '.join(_one_line(piece) for piece in pieces)})"


def _keeps_size(layer: LayerSite) -> bool:
    """A Keras convolution once more keeps the size of its picture: strides would leave nothing of it."""
    modern = layer.name.startswith(("Conv", "SeparableConv")) and not layer.name.startswith("Convolution")
    return layer.library is Library.KERAS and modern and layer.name[-2:] in ("1D", "2D", "3D")


def _one_line(text: str) -> str:
    return " ".join(text.split()) if "#" not in text and '"""' not in text else text


def _arguments(settings: Mapping[str, JsonValue]) -> str:
    for name in settings:
        if not name.isidentifier():
            raise NotChangeable(f"A setting of a layer is a keyword. Received: {name!r}.")
    return ", ".join(f"{name}={python_text(value)}" for name, value in settings.items())
