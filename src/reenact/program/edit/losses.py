"""Losses: another name, and, when asked for, everything around that has to change with it."""

import ast
import json
from collections.abc import Iterator
from typing import TypeAlias

from reenact.errors import NotChangeable
from reenact.program.edit.activations import set_activation
from reenact.program.edit.source_editor import SourceEditor, known
from reenact.program.edit.values import choose, exchange_callee, rename_callee, write_at
from reenact.program.flow.library_names import last_name
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.training import lexicon
from reenact.program.training.analysis import EditSite, Style
from reenact.program.training.layers import LayerSite
from reenact.program.training.supervision import (
    Meeting,
    bends,
    gives_probabilities,
    meetings,
)
from reenact.program.training.vocabulary import Form, activation_for, form_of, plain_name
from reenact.types import JsonValue

BENDABLE = (None, "linear", "softmax", "log_softmax", "sigmoid", "relu", "tanh")
SHARED = ("reduction", "name", "size_average", "reduce")


def set_loss(editor: SourceEditor, site: EditSite, value: JsonValue) -> None:
    """Put the name of another loss where one is."""
    if not isinstance(value, str):
        raise NotChangeable(f"A loss is a name. Received: {value!r}.")
    if site.style is Style.CHOICE:
        choose(editor, site, value)
    elif site.library == "torch":
        functional = known(site.callee).dotted.startswith("torch.nn.functional.")
        home = "torch.nn.functional" if functional else "torch.nn"
        new = f"{home}.{torch_loss(value, functional=functional)}"
        both = ("input", "target")
        exchange_callee(
            editor,
            site,
            new,
            *SHARED,
            *both,
            positional=2 if functional else 0,
        )
    else:
        _set_keras_loss(editor, site, value)


def _set_keras_loss(editor: SourceEditor, site: EditSite, value: str) -> None:
    name = keras_loss(value)
    usual = lexicon.KERAS_LOSSES[name][0]
    if site.style is not Style.NAME and site.found is not None:
        own = value in lexicon.KERAS_LOSS_CLASS_OF and value != name
        write_at(editor, site.found.end, value if own else usual)
    elif last_name(known(site.callee).dotted) in lexicon.KERAS_LOSSES:
        exchange_callee(editor, site, f"keras.losses.{name}", *SHARED)
    else:
        rename_callee(
            editor,
            known(site.callee),
            f"keras.losses.{usual}",
        )


def torch_loss(value: str, *, functional: bool) -> str:
    """The class or function of that loss, by any of its names."""
    for name in lexicon.TORCH_LOSS_CLASSES:
        function = lexicon.TORCH_FUNCTION_OF_LOSS.get(name, "")
        plain = plain_name(name)
        if plain_name(value) in (
            plain,
            plain_name(function),
            plain.removesuffix("loss"),
        ):
            if functional and not function:
                raise NotChangeable(f"{name} has no function of its own.")
            return function if functional else name
    known = ", ".join(lexicon.TORCH_LOSS_CLASSES)
    raise NotChangeable(f"PyTorch has no loss of that name. Received: {value!r}. Known: {known}.")


def keras_loss(value: str) -> str:
    for word, name in lexicon.KERAS_LOSS_CLASS_OF.items():
        if plain_name(word) == plain_name(value):
            return name
    known = ", ".join(words[0] for words in lexicon.KERAS_LOSSES.values())
    raise NotChangeable(f"Keras has no loss of that name. Received: {value!r}. Known: {known}.")


Turn: TypeAlias = tuple[Hyperparameter, EditSite, str]
"""A hyperparameter, its site, and the value that another change asks for."""


def replace_loss(
    editor: SourceEditor, param: Hyperparameter, site: EditSite, value: JsonValue
) -> list[Turn]:
    """Another loss, with the labels it is made for; returns the output activations that it asks
    for.
    """
    if not isinstance(value, str):
        raise NotChangeable(f"A loss is a name. Received: {value!r}.")
    old = _spelled(site, str(param.value))
    new = _spelled(site, value)
    supervision = editor.reading.supervision
    outputs = supervision.outputs(site)
    width = supervision.width(site)
    for units, own in editor.reading.of_kind(Kind.UNITS):
        # The same patch may change how many outputs there are.
        if own.layer in outputs and units.id in editor.claimed:
            wished = json.loads(editor.claimed[units.id])
            width = wished if isinstance(wished, int) else None
    reason = supervision.why_unfit(site, old, new, width)
    if reason:
        raise NotChangeable(f"{param.id} cannot become {value}: {reason}.")
    set_loss(editor, site, value)
    _adapt_labels(editor, site, old, new, width)
    return list(_outputs(editor, site, new))


def _spelled(site: EditSite, loss: str) -> str:
    """The library's class name of a loss; what a table of the program calls it where it has its
    own words.
    """
    try:
        return keras_loss(loss) if site.library == "keras" else torch_loss(loss, functional=False)
    except NotChangeable:
        if site.style is Style.CHOICE:
            return loss
        raise


def check_outputs(editor: SourceEditor) -> None:
    """An output that stays before a loss of probabilities must stay a probability."""
    for param, site in editor.reading.of_kind(Kind.ACTIVATION):
        if param.id not in editor.claimed:
            continue
        word = json.loads(editor.claimed[param.id])
        loss = editor.reading.supervision.needs_probabilities(site)
        if loss is not None and loss.id not in editor.claimed and not gives_probabilities(word):
            says = f"{param.id} cannot become {word}: {loss.value} stops at outputs outside 0 to 1."
            raise NotChangeable(
                says,
                next_step="Change the loss as well, to BCEWithLogitsLoss for instance.",
            )


def _outputs(editor: SourceEditor, site: EditSite, new: str) -> Iterator[Turn]:
    """Only an output that is bare, or activated by something a loss does not want, is changed."""
    wanted = activation_for(new)
    single = {own.layer for param, own in editor.reading.of_kind(Kind.UNITS) if param.in_force == 1}
    for layer in editor.reading.supervision.outputs(site):
        now = layer.activation.word if layer.activation is not None else None
        if wanted == "linear" and now in ("softmax", "log_softmax", "sigmoid"):
            yield from _activation(editor, layer, "linear")
        elif wanted not in ("", "linear", now) and now in BENDABLE:
            one = wanted == "softmax" and layer in single
            yield from _activation(editor, layer, "sigmoid" if one else wanted)


def _activation(editor: SourceEditor, layer: LayerSite, word: str) -> Iterator[Turn]:
    for param, site in editor.reading.of_kind(Kind.ACTIVATION):
        if bends(site, layer):
            # What somebody asked for in so many words counts more than what a loss would like.
            if param.id not in editor.claimed:
                yield param, site, word
            return
    if layer.activation is not None:
        site = EditSite(Style.NAME, layer.library, activation=layer.activation)
        set_activation(editor, site, word)


def _adapt_labels(
    editor: SourceEditor, site: EditSite, old: str, new: str, width: int | None
) -> None:
    """The labels of one loss in the form that another takes."""
    has = form_of(old)
    wants = form_of(new)
    torch = site.library == "torch"
    if has is None or has is wants:
        return
    for place in meetings(editor.analysis, site):
        if has is Form.CLASSES:
            _as_columns(editor, place, width, torch=torch)
        elif wants is Form.CLASSES and editor.reading.supervision.labels_are_columns(site, has):
            # One column a class becomes the number of the class.
            _suffix(editor, place.labels, ".argmax(1)" if torch else ".argmax(-1)")


def _as_columns(
    editor: SourceEditor,
    place: Meeting,
    classes: int | None,
    *,
    torch: bool,
) -> None:
    """Numbers of classes become one column a class, when the output is wider than one."""
    if torch and classes == 1:
        _suffix(editor, place.labels, ".float().unsqueeze(1)")
    elif torch:
        name = editor.name_for("torch.nn.functional.one_hot", place.labels)
        count = classes if classes is not None else f"{editor.text(known(place.outputs))}.size(-1)"
        editor.wrap(
            place.labels,
            f"{name}(",
            f", {count}).float()",
        )
    elif classes != 1:
        name = editor.name_for("keras.utils.to_categorical", place.labels)
        editor.wrap(
            place.labels,
            f"{name}(",
            f", {classes})",
        )


def _suffix(editor: SourceEditor, node: ast.expr, text: str) -> None:
    if isinstance(node, ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        editor.behind(node, node, text)
    else:
        editor.wrap(node, "(", ")" + text)
