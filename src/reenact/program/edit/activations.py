"""Activations: another one, none, or one where there was none, in every way they are written."""

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.lists import chain, insert_item
from reenact.program.edit.source_editor import SourceEditor, known
from reenact.program.edit.values import python_text, rename, rename_callee
from reenact.program.read import keras_words, torch_words
from reenact.program.read.analysis import EditSite
from reenact.program.read.ends import spot_of
from reenact.program.read.layers import ActivationSite, Library, Way, activation_word
from reenact.program.read.positions import ContainerKind
from reenact.program.read.scope import argument, receiver
from reenact.types import JsonValue


def set_activation(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """Another activation in the place of a written one; none (or `linear`) means that nothing is applied."""
    activation = site.activation
    word = activation_word(value) if isinstance(value, str) else None
    if activation is None:
        raise NotChangeable("The activation is not written in a way that can be changed.")
    if site.library == "torch":
        _torch(editor, activation, word if word != "linear" else None)
    else:
        _keras(editor, activation, word or "linear")


def _torch(editor: SourceEditor, activation: ActivationSite, word: str | None) -> None:
    if activation.way is Way.LAYER:
        rename_callee(editor, known(activation.callee), "torch.nn." + torch_class(word or "identity"))
        _keep_dim(editor, activation, word, None)
    elif word is None:
        unwrap(editor, activation)
    else:
        _torch_function(editor, activation, word)


def torch_class(word: str) -> str:
    if word not in torch_words.ACTIVATION_CLASSES:
        known = ", ".join(sorted(torch_words.ACTIVATION_CLASSES))
        raise NotChangeable(f"PyTorch has no activation of that name. Received: {word!r}. Known: {known}.")
    return torch_words.ACTIVATION_CLASSES[word]


def _keep_dim(
    editor: SourceEditor, activation: ActivationSite, word: str | None, tensor: ast.expr | None
) -> None:
    """Arguments belong to one activation: a slope means nothing to Tanh, and Softmax needs its dimension."""
    call, needs = activation.call, word in torch_words.NEEDS_DIM
    kept = {"dim"} if needs else {"inplace"} if word == "relu" and tensor is None else set()
    for part in call.args:
        if part is not tensor:
            editor.drop_argument(call, part)
    for given in call.keywords:
        if given.value is not tensor and given.arg not in kept:
            editor.drop_argument(call, given.value)
    if needs and argument(call, None, "dim") is None:
        editor.set_argument(call, "dim", "1")


def _torch_function(editor: SourceEditor, activation: ActivationSite, word: str) -> None:
    call, usual = activation.call, _home(word)
    if activation.way is Way.METHOD:
        _torch_method(editor, activation, word)
        return
    old = editor.analysis.sources.dotted(call.func)
    home = old.rpartition(".")[0]
    rename(editor, call.func, old, f"{usual if home == 'torch' else home}.{word}")
    _keep_dim(editor, activation, word, _tensor(activation))


def _home(word: str) -> str:
    """The module of PyTorch that has the function of an activation."""
    if word not in torch_words.ACTIVATION_FUNCTIONS:
        raise NotChangeable(f"PyTorch has no activation function of that name. Received: {word!r}.")
    return "torch" if word in torch_words.TENSOR_FUNCTIONS else "torch.nn.functional"


def _torch_method(editor: SourceEditor, activation: ActivationSite, word: str) -> None:
    """`x.relu()` becomes `x.tanh()`, or `F.gelu(x)` where tensors have no such method."""
    call, inner, needs = activation.call, _tensor(activation), word in torch_words.NEEDS_DIM
    if word in torch_words.TENSOR_METHODS:
        editor.behind(call, inner, f".{word}({'1' if needs else ''})")
        return
    name = editor.name_for(f"torch.nn.functional.{word}", call)
    editor.in_front(call, inner, f"{name}(")
    editor.behind(call, inner, ", dim=1)" if needs else ")")


def _tensor(activation: ActivationSite) -> ast.expr:
    """What the activation is applied to."""
    method = activation.way is Way.METHOD
    inner = receiver(activation.call) if method else argument(activation.call, 0, "input", "x")
    if inner is None:
        raise NotChangeable("What the activation is applied to cannot be determined.")
    return inner


def unwrap(editor: SourceEditor, activation: ActivationSite) -> None:
    """`F.relu(x)` becomes `x`; what is inside stays untouched, so that it can be changed too."""
    call, inner = activation.call, _tensor(activation)
    loose = isinstance(inner, ast.BinOp | ast.IfExp | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Lambda)
    loose = loose and activation.way is not Way.METHOD
    if activation.way is not Way.METHOD:
        editor.in_front(call, inner, "(" if loose else "")
    editor.behind(call, inner, ")" if loose else "")


def _keras(editor: SourceEditor, activation: ActivationSite, word: str) -> None:
    if activation.way is Way.ARGUMENT:
        spot = editor.analysis.values.spot(known(activation.callee).end)
        editor.replace(spot, python_text(keras_string(word)))
    elif activation.way is Way.LAYER:
        name = editor.name_for("keras.layers.Activation", activation.call)
        text = f"{name}({python_text(keras_string(word))})"
        editor.replace(spot_of(activation.call), text)
    elif word == "linear":
        unwrap(editor, activation)
    else:
        dotted = editor.analysis.sources.dotted(activation.call.func)
        home = dotted.rpartition(".")[0] or "keras.activations"
        rename(editor, activation.call.func, dotted, f"{home}.{keras_string(word)}")


def keras_string(word: str) -> str:
    if word not in keras_words.ACTIVATIONS and word not in keras_words.LAYER_OF_ACTIVATION:
        known = ", ".join(sorted(keras_words.ACTIVATIONS))
        raise NotChangeable(f"Keras has no activation of that name. Received: {word!r}. Known: {known}.")
    return word


def apply_activation(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """An activation behind a torch layer that has none."""
    layer = site.layer
    if layer is None or not isinstance(value, str):
        raise NotChangeable(f"An activation is a name. Received: {value!r}.")
    word = activation_word(value)
    if word == "linear":
        return
    for head in layer.heads:
        name = editor.name_for(f"{_home(word)}.{word}", head)
        editor.wrap(head, f"{name}(", ", dim=1)" if word in torch_words.NEEDS_DIM else ")")
    if layer.heads:
        return
    name = editor.name_for(f"torch.nn.{torch_class(word)}", layer.call)
    module = f"{name}(dim=1)" if word in torch_words.NEEDS_DIM else f"{name}()"
    if layer.library is Library.TORCH and layer.position.kind is ContainerKind.ATTRIBUTE:
        chain(editor, layer, "", f", {module})")
    else:
        insert_item(editor, layer, module, suffix="act")
