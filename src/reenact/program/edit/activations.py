"""Activations: another one, none, or one where there was none, in every way they are written."""

import ast

from reenact.errors import NotChangeable
from reenact.program.edit.lists import chain, insert_item
from reenact.program.edit.source_editor import SourceEditor, known
from reenact.program.edit.values import python_text, rename, rename_callee
from reenact.program.flow.ends import spot_of
from reenact.program.syntax.calls import argument, receiver
from reenact.program.training import lexicon
from reenact.program.training.analysis import EditSite
from reenact.program.training.layers import ActivationSite, Way, activation_word
from reenact.program.training.positions import ContainerKind
from reenact.types import JsonValue


def set_activation(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """Another activation in the place of a written one; none (or `linear`) means that nothing
    is applied.
    """
    word = activation_word(value) if isinstance(value, str) else "linear"
    activation = known(
        site.activation, "The activation is not written in a way that can be changed."
    )
    (_torch if site.library == "torch" else _keras)(
        editor,
        activation,
        word,
    )


def _torch(editor: SourceEditor, activation: ActivationSite, word: str) -> None:
    if activation.way is Way.LAYER:
        name = torch_class("identity" if word == "linear" else word)
        rename_callee(
            editor,
            known(activation.callee),
            f"torch.nn.{name}",
        )
        _keep_dim(editor, activation, word, None)
    elif word == "linear":
        unwrap(editor, activation)
    elif activation.way is Way.METHOD:
        _home(word)
        _torch_method(editor, activation, word)
    else:
        old = editor.analysis.sources.dotted(activation.call.func)
        usual = _home(word)
        home = old.rpartition(".")[0]
        rename(
            editor,
            activation.call.func,
            old,
            f"{usual if home == 'torch' else home}.{word}",
        )
        _keep_dim(editor, activation, word, _tensor(activation))


def torch_class(word: str) -> str:
    if word not in lexicon.TORCH_ACTIVATION_CLASSES:
        known = ", ".join(sorted(lexicon.TORCH_ACTIVATION_CLASSES))
        raise NotChangeable(
            f"PyTorch has no activation of that name. Received: {word!r}. Known: {known}."
        )
    return lexicon.TORCH_ACTIVATION_CLASSES[word]


def _keep_dim(
    editor: SourceEditor, activation: ActivationSite, word: str, tensor: ast.expr | None
) -> None:
    """Arguments belong to one activation: a slope means nothing to Tanh, and Softmax needs its
    dimension.
    """
    call = activation.call
    needs = word in lexicon.TORCH_NEEDS_DIM
    kept = ""
    if needs:
        kept = "dim"
    elif word == "relu" and tensor is None:
        kept = "inplace"
    named = [part.value for part in call.keywords if part.arg != kept]
    for part in [*call.args, *named]:
        if part is not tensor:
            editor.drop_argument(call, part)
    if needs and argument(call, None, "dim") is None:
        editor.set_argument(call, "dim", "1")


def _home(word: str) -> str:
    """The module of PyTorch that has the function of an activation."""
    if word not in lexicon.TORCH_ACTIVATION_FUNCTIONS:
        raise NotChangeable(f"PyTorch has no activation function of that name. Received: {word!r}.")
    return "torch" if word in lexicon.TORCH_TENSOR_FUNCTIONS else "torch.nn.functional"


def _torch_method(editor: SourceEditor, activation: ActivationSite, word: str) -> None:
    """`x.relu()` becomes `x.tanh()`, or `F.gelu(x)` where tensors have no such method."""
    call = activation.call
    inner = _tensor(activation)
    needs = word in lexicon.TORCH_NEEDS_DIM
    if word in lexicon.TORCH_TENSOR_METHODS:
        editor.behind(
            call,
            inner,
            f".{word}({'1' if needs else ''})",
        )
        return
    name = editor.name_for(f"torch.nn.functional.{word}", call)
    editor.in_front(call, inner, f"{name}(")
    editor.behind(call, inner, ", dim=1)" if needs else ")")


def _tensor(activation: ActivationSite) -> ast.expr:
    """What the activation is applied to."""
    method = activation.way is Way.METHOD
    inner = receiver(activation.call) if method else argument(activation.call, 0, "input", "x")
    return known(inner, "What the activation is applied to cannot be determined.")


def unwrap(editor: SourceEditor, activation: ActivationSite) -> None:
    """`F.relu(x)` becomes `x`; what is inside stays untouched, so that it can be changed too."""
    call = activation.call
    inner = _tensor(activation)
    method = activation.way is Way.METHOD
    loose = ast.BinOp | ast.IfExp | ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Lambda
    wrapped = isinstance(inner, loose) and not method
    if not method:
        editor.in_front(call, inner, "(" if wrapped else "")
    editor.behind(call, inner, ")" if wrapped else "")


def _keras(editor: SourceEditor, activation: ActivationSite, word: str) -> None:
    call = activation.call
    if activation.way is Way.ARGUMENT:
        spot = editor.analysis.values.spot(known(activation.callee).end)
        editor.replace(spot, python_text(keras_string(word)))
    elif activation.way is Way.LAYER:
        name = editor.name_for("keras.layers.Activation", call)
        editor.replace(
            spot_of(call),
            f"{name}({python_text(keras_string(word))})",
        )
    elif word == "linear":
        unwrap(editor, activation)
    else:
        dotted = editor.analysis.sources.dotted(call.func)
        home = dotted.rpartition(".")[0] or "keras.activations"
        rename(
            editor,
            call.func,
            dotted,
            f"{home}.{keras_string(word)}",
        )


def keras_string(word: str) -> str:
    if word not in lexicon.KERAS_ACTIVATIONS and word not in lexicon.KERAS_LAYER_OF_ACTIVATION:
        known = ", ".join(sorted(lexicon.KERAS_ACTIVATIONS))
        raise NotChangeable(
            f"Keras has no activation of that name. Received: {word!r}. Known: {known}."
        )
    return word


def apply_activation(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """An activation after a torch layer that has none."""
    layer = site.layer
    if layer is None or not isinstance(value, str):
        raise NotChangeable(f"An activation is a name. Received: {value!r}.")
    word = activation_word(value)
    if word == "linear":
        return
    dim = "dim=1" if word in lexicon.TORCH_NEEDS_DIM else ""
    for head in layer.heads:
        name = editor.name_for(
            f"{_home(word)}.{word}",
            head,
        )
        editor.wrap(
            head,
            f"{name}(",
            f", {dim})" if dim else ")",
        )
    if layer.heads:
        return
    module = f"{editor.name_for(f'torch.nn.{torch_class(word)}', layer.call)}({dim})"
    if layer.position.kind is ContainerKind.ATTRIBUTE:
        chain(editor, layer, "", f", {module})")
    else:
        insert_item(editor, layer, module, suffix="act")
