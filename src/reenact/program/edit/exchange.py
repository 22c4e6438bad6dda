"""Parts exchanged with all that the change demands: optimisers with their settings, layers with their
neighbours."""

from __future__ import annotations

from collections.abc import Mapping

from reenact.errors import NotChangeable
from reenact.program.edit.layer_text import replacement_text
from reenact.program.edit.literals import python_text
from reenact.program.edit.optimizers import keras_class, set_optimizer, short_name, torch_class
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.read import keras_words, torch_words
from reenact.program.read.analysis import Site, Style
from reenact.program.read.layers import LayerSite
from reenact.types import JsonValue

RATES = ("lr", "learning_rate")


def replace_optimizer(editor: SourceEditor, site: Site, by: str, settings: Mapping[str, JsonValue]) -> None:
    """Another optimiser; given settings are written, those it lacks are refused."""
    set_optimizer(editor, site, by)
    if not settings:
        return
    spec = (
        torch_words.OPTIMIZERS[torch_class(by)]
        if site.library == "torch"
        else keras_words.OPTIMIZERS[keras_class(by)]
    )
    for name, value in settings.items():
        word = _rate_word(site, name)
        if not spec.takes(word):
            raise NotChangeable(f"{by} takes no {name}.")
        if site.style is Style.NAME and site.call is not None:
            editor.set_argument(site.call, site.scope, word, python_text(value))
        elif site.library == "keras" and site.found is not None:
            short_name(editor, site).settings[word] = value
        else:
            raise NotChangeable("The optimiser is chosen by a string; its settings stand elsewhere.")


def _rate_word(site: Site, name: str) -> str:
    """Torch says `lr`, Keras `learning_rate`; a program written for an old Keras keeps its `lr`."""
    if name not in RATES:
        return name
    if site.library == "torch":
        return "lr"
    old = site.call is not None and any(given.arg == "lr" for given in site.call.keywords)
    return "lr" if old else "learning_rate"


def replace_layer(editor: SourceEditor, layer: LayerSite, by: str, settings: Mapping[str, JsonValue]) -> None:
    """Another layer in the place of one, with settings of its own."""
    text = replacement_text(editor, layer, by, settings)
    editor.replace(editor.analysis.spot(layer.call, layer.scope), text)
