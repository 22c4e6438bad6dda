"""Turn a hyperparameter: find the editor for its kind and the way it is written."""

from __future__ import annotations

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.activations import apply_activation, keras_string, set_activation, torch_class
from reenact.program.edit.arguments import (
    add_argument,
    add_initialiser,
    regularizer_text,
    remove_argument,
)
from reenact.program.edit.layers import remove_layer, repeat_layer
from reenact.program.edit.literals import python_text
from reenact.program.edit.loop import remove_schedule, set_in_loop
from reenact.program.edit.losses import set_loss
from reenact.program.edit.names import choose, keep_arguments, rename_callee
from reenact.program.edit.optimizers import refuse_without_momentum, set_optimizer, set_short_setting
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.edit.values import set_value
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.read import keras_words, torch_words
from reenact.program.read.activations import activation_word
from reenact.program.read.analysis import Site, Style
from reenact.types import JsonValue

NAMED_SETTINGS = frozenset((Kind.WEIGHT_INIT, Kind.BIAS_INIT, Kind.WEIGHT_REGULARIZER))


def turn(editor: SourceEditor, param: Hyperparameter, site: Site, value: JsonValue) -> None:
    """Make the edits that give a hyperparameter another value; raises NotChangeable when that cannot be
    done."""
    if not param.changeable:
        raise NotChangeable(f"{param.id} cannot be changed: {param.reason}.")
    if param.kind is Kind.MOMENTUM and not value and site.library == "torch":
        refuse_without_momentum(editor, param)
    if not editor.claim(param.id, value):
        return
    if param.kind is Kind.LAYER:
        _turn_layer(editor, site, value)
    elif site.style is Style.SHORT_NAME:
        set_short_setting(editor, site, value)
    elif site.style is Style.APPLY:
        apply_activation(editor, site, value)
    elif site.style is Style.INIT:
        add_initialiser(editor, param, site, value)
    elif site.style is Style.LOOP:
        set_in_loop(editor, param, site, value)
    elif param.absent:
        add_argument(editor, param, site, value)
    else:
        _turn_written(editor, param, site, value)


def _turn_layer(editor: SourceEditor, site: Site, value: JsonValue) -> None:
    layer = site.layer
    assert layer is not None
    if value is None:
        remove_layer(editor, layer)
    elif isinstance(value, dict) and isinstance(value.get("repeat"), int):
        repeat_layer(editor, layer, value["repeat"])
    else:
        raise NotChangeable(
            f'A layer is taken out (null) or repeated ({{"repeat": 2}}). Received: {value!r}.'
        )


def _turn_written(editor: SourceEditor, param: Hyperparameter, site: Site, value: JsonValue) -> None:
    if param.kind is Kind.LOSS:
        set_loss(editor, site, value)
    elif param.kind is Kind.OPTIMIZER:
        set_optimizer(editor, site, value)
    elif param.kind is Kind.ACTIVATION:
        _turn_activation(editor, site, value)
    elif param.kind is Kind.NORMALIZATION:
        _turn_norm(editor, site, value)
    elif site.style is Style.CHOICE:
        choose(editor, site, value)
    elif site.style is Style.NAME:
        _turn_name(editor, param, site, value)
    elif value is None:
        remove_argument(editor, site)
    elif param.kind is Kind.WEIGHT_REGULARIZER and site.library == "keras" and site.found is not None:
        editor.replace(site.found.spot, regularizer_text(editor, site, value))
    else:
        set_value(editor, param, site, value)


def _turn_activation(editor: SourceEditor, site: Site, value: JsonValue) -> None:
    if site.style is Style.NAME:
        set_activation(editor, site, value)
        return
    word = activation_word(value) if isinstance(value, str) else "linear"
    if site.style is Style.CHOICE:
        assert site.callee is not None
        if not site.callee.choices and site.callee.dotted.startswith("torch.nn."):
            choose(editor, site, torch_class("identity" if word == "linear" else word))
        else:
            choose(editor, site, value)
        return
    assert site.found is not None
    written = keras_string(word) if site.library == "keras" else word
    set_found(editor, site, written)


def set_found(editor: SourceEditor, site: Site, value: JsonValue) -> None:
    from reenact.program.edit.values import write_at

    assert site.found is not None
    write_at(editor, site.found.end, site.found.spot, site.found.text, value)


def _turn_norm(editor: SourceEditor, site: Site, value: JsonValue) -> None:
    layer, callee = site.layer, site.callee
    assert layer is not None
    assert callee is not None
    assert site.call is not None
    if value is None:
        remove_layer(editor, layer)
        return
    known = keras_words.LAYERS if site.library == "keras" else torch_words.LAYERS
    spec = known.get(str(value))
    if spec is None or spec.family != layer.spec.family:
        raise NotChangeable(f"This is no normalisation layer of {site.library}. Received: {value!r}.")
    if site.library == "torch" and spec.width_in != layer.spec.width_in:
        raise NotChangeable(f"{value} does not take the same arguments as {layer.name}.")
    home = "keras.layers" if site.library == "keras" else "torch.nn"
    rename_callee(editor, callee, f"{home}.{value}")
    if site.library == "keras":
        keep_arguments(editor, site.call, site.scope, frozenset(("name", "axis", "epsilon")))


def _turn_name(editor: SourceEditor, param: Hyperparameter, site: Site, value: JsonValue) -> None:
    if param.kind is Kind.SCHEDULER and value is None and site.library == "torch":
        remove_schedule(editor, site)
    elif param.kind in NAMED_SETTINGS and site.library == "keras":
        _keras_setting(editor, param, site, value)
    elif param.kind in NAMED_SETTINGS and isinstance(value, str):
        _torch_initialiser(editor, site, value)
    elif param.kind is Kind.PREPROCESSING and isinstance(value, str):
        assert site.callee is not None
        assert site.call is not None
        rename_callee(editor, site.callee, f"{site.callee.dotted.rpartition('.')[0]}.{value}")
        keep_arguments(editor, site.call, site.scope, frozenset(("copy",)))
    else:
        raise NotChangeable(f"{param.id} cannot take this value. Received: {value!r}.")


def _keras_setting(editor: SourceEditor, param: Hyperparameter, site: Site, value: JsonValue) -> None:
    """An initialiser or regulariser object gives way to a string, which Keras takes everywhere."""
    callee, call = site.callee, site.call
    assert callee is not None
    assert call is not None
    called = call.func is callee.end.node
    if value is None and not called:
        raise NotChangeable("It is given by name; what would be left cannot be told.")
    node: ast.AST = call if called else callee.end.node
    assert isinstance(node, ast.expr)
    text = (
        regularizer_text(editor, site, value) if param.kind is Kind.WEIGHT_REGULARIZER else python_text(value)
    )
    editor.replace(editor.analysis.spot(node, site.scope if called else callee.end.scope), text)


def _torch_initialiser(editor: SourceEditor, site: Site, value: str) -> None:
    assert site.callee is not None
    assert site.call is not None
    name = value if value.endswith("_") else f"{value}_"
    if name not in torch_words.INITIALIZERS:
        raise NotChangeable(f"torch.nn.init has no function of that name. Received: {value!r}.")
    rename_callee(editor, site.callee, f"torch.nn.init.{name}")
    keep_arguments(editor, site.call, site.scope, frozenset(("tensor",)), positional=1)
    if name == "constant_":
        editor.set_argument(site.call, site.scope, "val", "0.0")
