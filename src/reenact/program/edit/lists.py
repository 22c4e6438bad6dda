"""Layers in lists: put another one after or in front of a layer, or take it out, however the list
is written; and the source text of a new layer, with a width that fits its neighbour.
"""

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.segments import Bracketed
from reenact.program.edit.source_editor import Settings, SourceEditor, known
from reenact.program.edit.values import python_text
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.scope import FileIndex
from reenact.program.training import lexicon
from reenact.program.training.layers import LayerSite, Way
from reenact.program.training.positions import LISTS, ContainerKind
from reenact.program.training.vocabulary import Family

ADDED = frozenset((ContainerKind.ADD, ContainerKind.APPEND))
LISTED = ADDED | {ContainerKind.ELEMENT, ContainerKind.NAMED}


def insert_item(
    editor: SourceEditor, layer: LayerSite, text: str, suffix: str, before: bool = False
) -> None:
    """Put the source text of another layer right after this one, or in front of it."""
    index = layer.scope.index
    named = layer.position.kind is ContainerKind.NAMED
    holder, number, name = _item(editor, index, layer)
    new = f"{name}_{suffix}"
    if holder is not None:
        pair = f"{new}={text}" if isinstance(holder, ast.Call) else f'("{new}", {text})'
        place = number - 1 if before else number
        editor.work(holder).insert.append((place, pair if named else text))
        return
    parent = index.parents[layer.call]
    if not isinstance(parent, ast.Call):
        raise NotChangeable(f"{layer.path} is added in a way that cannot be followed.")
    given = f'"{new}", {text}' if named else text
    line = f"{editor.text(parent.func)}({given})"
    (editor.before if before else editor.after)(
        index.statement(layer.call),
        line,
    )


def remove_item(editor: SourceEditor, layer: LayerSite) -> None:
    """Take a layer out of the list it stands in."""
    index = layer.scope.index
    holder, number, _ = _item(editor, index, layer)
    added = layer.position.kind in ADDED and isinstance(holder, ast.List) and len(holder.elts) == 1
    if holder is None or added:
        editor.remove_statement(index.statement(layer.call))
    else:
        editor.work(holder).drop.add(number)


def _item(
    editor: SourceEditor, index: FileIndex, layer: LayerSite
) -> tuple[Bracketed | None, int, str]:
    """The call or list that holds a layer (none for a statement that adds it), its number and
    name there.
    """
    kind = layer.position.kind
    node = _taken_by(index, layer)
    parent = index.parents[node]
    if kind is ContainerKind.NAMED:
        return _named_holder(index, layer)
    if kind in ADDED and not isinstance(parent, ast.List):
        return None, 0, ""
    if kind is ContainerKind.ELEMENT:
        while not isinstance(parent, Bracketed):
            node = parent
            parent = index.parents[parent]
        around = [
            call for call in (parent, index.parents.get(parent)) if isinstance(call, ast.Call)
        ]
        if any(editor.analysis.sources.dotted(call.func) in LISTS for call in around):
            why = "stands in a ModuleList; how its items are used is for the program to say"
            raise NotChangeable(f"{layer.path} {why}.")
    listed = isinstance(parent, Bracketed) and (kind in LISTED or kind is ContainerKind.VARIABLE)
    number = index.numbers(parent).get(node) if isinstance(parent, Bracketed) and listed else None
    if not isinstance(parent, Bracketed) or number is None:
        raise NotChangeable(f"{layer.path} is not in a list of layers that another could join.")
    return parent, number, ""


def _taken_by(index: FileIndex, layer: LayerSite) -> ast.AST:
    """The layer itself, or the only use of its variable: `Sequential(..., head)`."""
    if layer.position.kind is not ContainerKind.VARIABLE:
        return layer.call
    statement = index.statement(layer.call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    uses = index.reads(target.id) if isinstance(target, ast.Name) else []
    if len(uses) != 1:
        raise NotChangeable(f"{layer.path} is used by its name in a way that cannot be followed.")
    return uses[0]


def _named_holder(index: FileIndex, layer: LayerSite) -> tuple[Bracketed | None, int, str]:
    """The list of pairs or the OrderedDict call that names the layer; none for `add_module`."""
    parent = index.parents[layer.call]
    around = index.parents[parent]
    if isinstance(parent, ast.Tuple) and isinstance(around, ast.List | ast.Tuple):
        return (
            around,
            around.elts.index(parent),
            str(getattr(parent.elts[0], "value", "")),
        )
    if isinstance(parent, ast.keyword) and isinstance(around, ast.Call):
        return (
            around,
            len(around.args) + around.keywords.index(parent),
            parent.arg or "",
        )
    if isinstance(parent, ast.Call) and parent.args:
        return None, 0, str(getattr(parent.args[0], "value", ""))
    raise NotChangeable(f"{layer.path} is named in a way that cannot be followed.")


def chain(editor: SourceEditor, layer: LayerSite, front: str, back: str) -> None:
    """`self.fc = nn.Linear(8, 4)` becomes `self.fc = nn.Sequential(nn.Linear(8, 4), ...)`."""
    editor.claim_place(layer.call, layer.path, wraps=True)
    name = editor.name_for("torch.nn.Sequential", layer.call)
    editor.wrap(
        layer.call,
        f"{name}({front}",
        back,
    )


ONCE = frozenset(("name", "input_shape", "input_dim", "input_length", "batch_input_shape"))
"""Arguments that only one layer of a model may have."""
STRIDES = frozenset(("strides", "padding"))


def layer_text(
    editor: SourceEditor,
    near: LayerSite,
    name: str,
    settings: Settings,
    *,
    before: bool,
) -> str:
    """A constructor call for a layer of this name next to another."""
    if near.library == "keras":
        return _keras_text(editor, near, name, settings)
    if name not in lexicon.TORCH_LAYERS:
        raise NotChangeable(f"PyTorch has no layer of that name. Received: {name!r}.")
    spec = lexicon.TORCH_LAYERS[name]
    parts = []
    if spec.width_in is not None and not any(word in settings for word in spec.width_in.names):
        width = _in_text(editor, near) if before else out_text(editor, near)
        if spec.family is Family.NORM:
            parts.append(width if name != "GroupNorm" else f"1, {width}")
        elif spec.weighted:
            parts += (
                [width, width]
                if not any(word in settings for word in spec.slots[0].names)
                else [width]
            )
    elif name in ("Softmax", "LogSoftmax") and "dim" not in settings:
        parts.append("dim=1")
    return _torch_call(editor, near, name, parts, settings)


def _keras_text(editor: SourceEditor, anchor: LayerSite, name: str, settings: Settings) -> str:
    if name not in lexicon.KERAS_LAYERS:
        raise NotChangeable(f"Keras has no layer of that name. Received: {name!r}.")
    given = dict(settings)
    if name == "Dense" and "units" not in given:
        why = f"How wide a layer next to {anchor.path} should be is not written; give `units`."
        given["units"] = editor.analysis.values.compute(known(anchor.given(Kind.UNITS), why))
    if lexicon.KERAS_LAYERS[name].family is Family.DROPOUT and not {"rate", "p"} & set(given):
        given["rate"] = 0.5
    return f"{editor.name_for(f'keras.layers.{name}', anchor.call)}({_arguments(given)})"


def _torch_call(
    editor: SourceEditor, near: LayerSite, name: str, parts: list[str], given: Settings
) -> str:
    called = editor.name_for(f"torch.nn.{name}", near.call)
    return f"{called}({', '.join(filter(None, [*parts, _arguments(given)]))})"


def replacement_text(editor: SourceEditor, layer: LayerSite, name: str, settings: Settings) -> str:
    """A constructor call for another layer in the place of one: torch widths are taken over."""
    spec = lexicon.TORCH_LAYERS.get(name)
    if layer.library == "keras" or spec is None or not (spec.weighted and layer.spec.weighted):
        return layer_text(editor, layer, name, settings, before=False)
    return _torch_call(
        editor,
        layer,
        name,
        [_in_text(editor, layer), out_text(editor, layer)],
        settings,
    )


def out_text(editor: SourceEditor, layer: LayerSite) -> str:
    """The output width of a layer as its source writes it."""
    value = layer.given(Kind.UNITS, Kind.FILTERS)
    if value is not None:
        return editor.text(value)
    if layer.spec.width_in is not None and layer.spec.family is Family.NORM:
        return _in_text(editor, layer)
    for before in editor.reading.models.layers:
        if layer in before.feeds:
            return out_text(editor, before)
    raise NotChangeable(f"How wide the output of {layer.path} is cannot be determined.")


def _in_text(editor: SourceEditor, layer: LayerSite) -> str:
    why = f"How wide the input of {layer.path} is cannot be determined."
    return editor.text(
        known(
            layer.filling(layer.spec.width_in),
            why,
        )
    )


def copy_texts(editor: SourceEditor, layer: LayerSite) -> list[str]:
    """The same layer once more, its own output the copy's input, with the activation that two torch
    layers need.

    In a list the copy is after the layer's activation and brings one along; under an
    attribute, whose activation the forward code applies, it is after a new one.
    """
    copied = _copy_text(editor, layer)
    if layer.library == "keras" or not layer.spec.weighted:
        return [copied]
    activation = layer.activation
    if activation is not None and activation.way is Way.LAYER and layer.position.kind in LISTED:
        return [copied, _one_line(editor.text(activation.call))]
    word = activation.word if activation is not None else ""
    word = word if word in ("tanh", "gelu", "elu", "selu") else "relu"
    name = editor.name_for(
        f"torch.nn.{lexicon.TORCH_ACTIVATION_CLASSES[word]}",
        layer.call,
    )
    return [f"{name}()", copied]


def _copy_text(editor: SourceEditor, layer: LayerSite) -> str:
    call = layer.call
    pieces = []
    keras = layer.library == "keras"
    modern = layer.name.startswith(("Conv", "SeparableConv")) and not layer.name.startswith(
        "Convolution"
    )
    # A Keras convolution once more keeps the size of its picture: strides would leave nothing of
    # it.
    keeps_size = keras and modern and layer.name[-2:] in ("1D", "2D", "3D")
    once = ONCE | STRIDES if keeps_size else ONCE
    replaced = layer.filling(layer.spec.width_in) if layer.spec.weighted and not keras else None
    given = [("", part) for part in (call.args[:2] if keeps_size else call.args)]
    named = [one for one in call.keywords if one.arg not in once]
    given += [
        (
            f"{one.arg}=" if one.arg else "**",
            one.value,
        )
        for one in named
    ]
    texts = [
        (
            name,
            out_text(editor, layer) if part is replaced else editor.text(part),
        )
        for name, part in given
    ]
    pieces = [name + text for name, text in texts]
    if keeps_size:
        pieces.append('padding="same"')
    return f"{editor.text(call.func)}({', '.join(_one_line(piece) for piece in pieces)})"


def _one_line(text: str) -> str:
    if "#" not in text and '"""' not in text:
        return " ".join(text.split())
    return text


def _arguments(settings: Settings) -> str:
    for name in settings:
        if not name.isidentifier():
            raise NotChangeable(f"A setting of a layer is a keyword. Received: {name!r}.")
    return ", ".join(f"{name}={python_text(value)}" for name, value in settings.items())
