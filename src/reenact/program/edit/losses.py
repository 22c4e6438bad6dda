"""Losses: another name, and, when asked for, everything around that has to change with it."""

from __future__ import annotations

import json

from reenact.errors import NotChangeable
from reenact.program.edit.activations import set_activation
from reenact.program.edit.labels import as_classes, as_columns
from reenact.program.edit.names import choose, keep_arguments, rename_callee
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.edit.values import write_at
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.read import keras_words, torch_words
from reenact.program.read.analysis import Site, Style
from reenact.program.read.label_forms import Form, activation_for, form_of
from reenact.program.read.layers import LayerSite
from reenact.program.read.names import plain_name
from reenact.program.read.supervision import bends, gives_probabilities
from reenact.types import JsonValue

SHARED = frozenset(("reduction", "name", "size_average", "reduce"))


def set_loss(editor: SourceEditor, site: Site, value: JsonValue) -> str:
    """Put the name of another loss where one stands; returns the name written."""
    if not isinstance(value, str):
        raise NotChangeable(f"A loss is a name. Received: {value!r}.")
    if site.style is Style.CHOICE:
        choose(editor, site, value)
        return value
    if site.library == "torch":
        return _torch(editor, site, value)
    return _keras(editor, site, value)


def _torch(editor: SourceEditor, site: Site, value: str) -> str:
    assert site.callee is not None
    assert site.call is not None
    functional = site.callee.dotted.startswith("torch.nn.functional.")
    name = torch_loss(value, functional=functional)
    home = "torch.nn.functional" if functional else "torch.nn"
    rename_callee(editor, site.callee, f"{home}.{name}")
    keep_arguments(
        editor, site.call, site.scope, SHARED | {"input", "target"}, positional=2 if functional else 0
    )
    return name


def torch_loss(value: str, *, functional: bool) -> str:
    """The class or function of that loss, by any of its names."""
    for name in torch_words.LOSS_CLASSES:
        function = torch_words.FUNCTION_OF_LOSS.get(name, "")
        if plain_name(value) in (
            plain_name(name),
            plain_name(function),
            plain_name(name).removesuffix("loss"),
        ):
            if functional and not function:
                raise NotChangeable(f"{name} has no function of its own.")
            return function if functional else name
    known = ", ".join(torch_words.LOSS_CLASSES)
    raise NotChangeable(f"PyTorch has no loss of that name. Received: {value!r}. Known: {known}.")


def _keras(editor: SourceEditor, site: Site, value: str) -> str:
    name = keras_loss(value)
    if site.style is not Style.NAME and site.found is not None:
        word = value if value in keras_words.LOSS_CLASS_OF and value != name else keras_words.LOSSES[name][0]
        write_at(editor, site.found.end, site.found.spot, site.found.text, word)
        return name
    assert site.callee is not None
    assert site.call is not None
    is_class = site.callee.dotted.rpartition(".")[2] in keras_words.LOSSES
    word = name if is_class else keras_words.LOSSES[name][0]
    rename_callee(editor, site.callee, f"keras.losses.{word}")
    if is_class:
        keep_arguments(editor, site.call, site.scope, SHARED)
    return name


def keras_loss(value: str) -> str:
    for word, name in keras_words.LOSS_CLASS_OF.items():
        if plain_name(word) == plain_name(value):
            return name
    known = ", ".join(words[0] for words in keras_words.LOSSES.values())
    raise NotChangeable(f"Keras has no loss of that name. Received: {value!r}. Known: {known}.")


def replace_loss(editor: SourceEditor, param: Hyperparameter, site: Site, value: JsonValue) -> None:
    """Another loss, with the output activation and the labels it is made for."""
    if not isinstance(value, str):
        raise NotChangeable(f"A loss is a name. Received: {value!r}.")
    old, new = _spelled(site, str(param.value)), _spelled(site, value)
    width = _width(editor, site)
    reason = editor.reading.supervision.why_unfit(site, old, new, width)
    if reason:
        raise NotChangeable(f"{param.id} cannot become {value}: {reason}.")
    set_loss(editor, site, value)
    _adapt_output(editor, site, new)
    _adapt_labels(editor, site, form_of(old), form_of(new), width)


def _spelled(site: Site, loss: str) -> str:
    """The library's class name of a loss; what a table of the program calls it where it has its own words."""
    try:
        return keras_loss(loss) if site.library == "keras" else torch_loss(loss, functional=False)
    except NotChangeable:
        if site.style is Style.CHOICE:
            return loss
        raise


def check_outputs(editor: SourceEditor) -> None:
    """An output that stays before a loss of probabilities must stay a probability."""
    for param in editor.reading.hyperparameters:
        if param.kind is not Kind.ACTIVATION or param.id not in editor.claimed:
            continue
        word = json.loads(editor.claimed[param.id])
        loss = editor.reading.supervision.needs_probabilities(editor.reading.sites[param.id])
        if loss is not None and loss.id not in editor.claimed and not gives_probabilities(word):
            raise NotChangeable(
                f"{param.id} cannot become {word}: {loss.value} stops at outputs outside 0 to 1.",
                next_step="Change the loss as well, to BCEWithLogitsLoss for instance.",
            )


def _width(editor: SourceEditor, site: Site) -> int | None:
    """Outputs of the model, after what the same patch does to them."""
    outputs = editor.reading.supervision.outputs(site)
    for param in editor.reading.hyperparameters:
        if (
            param.kind is Kind.UNITS
            and editor.reading.sites[param.id].layer in outputs
            and param.id in editor.claimed
        ):
            wished = json.loads(editor.claimed[param.id])
            return wished if isinstance(wished, int) else None
    return editor.reading.supervision.width(site)


def _adapt_output(editor: SourceEditor, site: Site, new: str) -> None:
    wanted = activation_for(new)
    for layer in editor.reading.supervision.outputs(site):
        now = layer.activation.word if layer.activation is not None else None
        if wanted == "linear" and now in ("softmax", "log_softmax", "sigmoid"):
            _no_activation(editor, layer)
        elif wanted not in ("", "linear", now) and _may_bend(now):
            _give_activation(editor, layer, wanted)


def _may_bend(now: str | None) -> bool:
    """Only an output that is bare, or bent by something a loss does not want, is changed."""
    return now is None or now in ("linear", "softmax", "log_softmax", "sigmoid", "relu", "tanh")


def _no_activation(editor: SourceEditor, layer: LayerSite) -> None:
    _set_by_hyperparameter(editor, layer, "linear")


def _give_activation(editor: SourceEditor, layer: LayerSite, word: str) -> None:
    if word == "softmax" and _units(editor, layer) == 1:
        word = "sigmoid"
    _set_by_hyperparameter(editor, layer, word)


def _units(editor: SourceEditor, layer: LayerSite) -> JsonValue:
    params = [
        param
        for param in editor.reading.hyperparameters
        if param.kind is Kind.UNITS and editor.reading.sites[param.id].layer is layer
    ]
    return params[0].in_force if params else None


def _set_by_hyperparameter(editor: SourceEditor, layer: LayerSite, word: str) -> None:
    from reenact.program.edit.turn import turn

    activation = layer.activation
    for param in editor.reading.hyperparameters:
        site = editor.reading.sites[param.id]
        if param.kind is not Kind.ACTIVATION:
            continue
        if bends(site, layer):
            # What somebody asked for in so many words counts more than what a loss would like.
            if param.id not in editor.claimed:
                turn(editor, param, site, word)
            return
    if activation is not None:
        set_activation(
            editor, Site(Style.NAME, layer.library.value, layer.scope, activation=activation), word
        )


def _adapt_labels(
    editor: SourceEditor, site: Site, old: Form | None, new: Form | None, width: int | None
) -> None:
    if old is None or old is new:
        return
    if old is Form.CLASSES:
        as_columns(editor, site, width)
    elif new is Form.CLASSES and editor.reading.supervision.labels_are_columns(site, old):
        as_classes(editor, site)
