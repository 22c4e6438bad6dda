"""The framework, the layers and the hyperparameters of a program as its text tells them, before
anything runs: what static rules look at.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePosixPath
from typing import TypedDict

from reenact.errors import PatchRefused
from reenact.program.edit.carry_out import turn
from reenact.program.edit.source_editor import SourceEditor
from reenact.program.flow.ends import spot_of
from reenact.program.flow.library_names import last_name
from reenact.program.flow.sources import Sources
from reenact.program.hyperparameter import Hyperparameter, Kind
from reenact.program.program import Program
from reenact.program.syntax.calls import keyword, method_name
from reenact.program.syntax.index import dotted_text
from reenact.program.training.analysis import ProgramAnalysis, Style
from reenact.program.training.layers import LayerSite
from reenact.program.training.reading import Reading, read
from reenact.types import JsonValue, Place

TRIED_STYLES = frozenset(
    (
        Style.LOOP,
        Style.INIT,
        Style.APPLY,
        Style.LAYER,
    )
)
TRIED_KINDS = frozenset(
    map(
        Kind,
        (
            "normalization",
            "scheduler",
            "preprocessing",
            "optimizer",
            "momentum",
        ),
    )
)
"""Changes that may turn out to be impossible; all others are a value in the place of a value."""


class StaticLayerJson(TypedDict):
    """A layer of the text as JSON."""

    model: str
    name: str
    type: str
    family: str
    file: PurePosixPath
    line: int
    activation: str | None
    role: str
    settings: dict[str, JsonValue]
    feeds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StaticLayer:
    """One layer as the text makes it."""

    name: str
    """Path in its model: `features.0` or `fc1` in torch, the given or numbered name in Keras."""
    model: str
    """Class, variable or function that holds it."""
    type: str
    """Class name as the source writes it: `Linear`, `Convolution2D`."""
    family: str
    """dense, conv, recurrent, embedding, dropout, norm, activation, pool, shape, merge, input,
    composite, wrapper.
    """
    place: Place
    """The constructor call."""
    activation: str | None
    """What is applied to its output (`relu`, `softmax`); none when nothing is, or nobody can
    tell.
    """
    role: str
    """`output`, `hidden`, or empty for layers without a weight matrix."""
    settings: dict[str, JsonValue] = field(default_factory=dict)
    """Constructor arguments: the value where it can be determined, else the source text."""
    feeds: tuple[str, ...] = ()
    """Names of the layers that take its output."""
    library: str = ""

    def json_fields(self) -> StaticLayerJson:
        return {
            "model": self.model,
            "name": self.name,
            "type": self.type,
            "family": self.family,
            "file": self.place.file,
            "line": self.place.line,
            "activation": self.activation,
            "role": self.role,
            "settings": self.settings,
            "feeds": self.feeds,
        }


@dataclass(frozen=True, slots=True)
class StaticGraph:
    """A program's models as text."""

    framework: Framework
    layers: tuple[StaticLayer, ...]
    """In the order of the text."""
    hyperparameters: tuple[Hyperparameter, ...]

    def of_kind(self, kind: Kind) -> tuple[Hyperparameter, ...]:
        return tuple(param for param in self.hyperparameters if param.kind is kind)

    def layer(self, model: str, name: str) -> StaticLayer | None:
        return next(
            (layer for layer in self.layers if (layer.model, layer.name) == (model, name)),
            None,
        )


@lru_cache(maxsize=64)
def hyperparameters_of(program: Program) -> tuple[Hyperparameter, ...]:
    """Every hyperparameter that the text of a program tells; nothing is run, no library is
    imported.
    """
    reading = read(program)
    order = {str(file.path): number for number, file in enumerate(program.files)}
    found = [_possible(reading, param) for param in reading.hyperparameters]
    found.sort(
        key=lambda param: (
            order.get(str(param.place.file), 99),
            param.place,
            param.id,
        )
    )
    return tuple(found)


def _possible(reading: Reading, param: Hyperparameter) -> Hyperparameter:
    """A hyperparameter without the alternatives that its program does not allow."""
    site = reading.sites[param.id]
    if (site.style not in TRIED_STYLES and param.kind not in TRIED_KINDS) or not param.alternatives:
        return param
    kept, why = [], ""
    for value in param.alternatives:
        editor = SourceEditor(reading)
        try:
            turn(editor, param, site, value)
            editor.finish()
        except PatchRefused as refusal:
            why = refusal.sentence
        else:
            kept.append(value)
    if kept:
        return replace(param, alternatives=tuple(kept))
    return replace(param, alternatives=(), changeable=False, reason=why)


def static_graph(program: Program) -> StaticGraph:
    """All layers a program's text makes; nothing is run."""
    reading = read(program)
    layers = tuple(_layer(reading.analysis, layer) for layer in reading.models.layers)
    return StaticGraph(framework_of(program), layers, hyperparameters_of(program))


def _layer(analysis: ProgramAnalysis, layer: LayerSite) -> StaticLayer:
    word = layer.activation.word if layer.activation is not None else None
    own = (
        layer.path,
        layer.model,
        layer.name,
        layer.spec.family.value,
        analysis.place(spot_of(layer.call)),
    )
    settings = _settings(analysis, layer)
    feeds = tuple(taker.path for taker in layer.feeds)
    return StaticLayer(
        *own,
        None if word == "linear" else word,
        layer.role,
        settings,
        feeds,
        layer.library,
    )


def _settings(analysis: ProgramAnalysis, layer: LayerSite) -> dict[str, JsonValue]:
    slots = [
        *layer.spec.slots,
        *filter(None, [layer.spec.width_in]),
    ]
    found = [
        (
            slot.names[0],
            layer.filling(slot),
        )
        for slot in slots
    ]
    known = {name for slot in slots for name in slot.names}
    found += [
        (one.arg, one.value) for one in layer.call.keywords if one.arg and one.arg not in known
    ]
    return {name: _value(analysis, node) for name, node in found if node is not None}


def _value(analysis: ProgramAnalysis, node: ast.expr) -> JsonValue:
    values = analysis.values.find(node)
    if len(values) != 1:
        return analysis.values.here(node).text
    if values[0].computed is not None:
        return values[0].computed
    return values[0].value


class Framework(StrEnum):
    """The library whose training it is."""

    TORCH = "torch"
    LIGHTNING = "lightning"
    TRANSFORMERS = "transformers"
    KERAS3 = "keras3"
    TF_KERAS = "tf.keras"
    KERAS_OLD = "keras1-2"
    """Written for Keras 1 or 2."""
    UNKNOWN = "unknown"


OLD_MODULES = re.compile(
    r"^keras\.(layers\.(core|convolutional|normalization|recurrent|pooling|embeddings|advanced_activations|merge|"
    r"wrappers|noise|local)|utils\.np_utils|preprocessing\.(sequence|text)|engine|legacy|wrappers|datasets\.\w+\.old)"
)
OLD_IMPORTS = frozenset(
    {
        "keras.utils.np_utils",
        "keras.layers.Convolution2D",
        "keras.layers.Merge",
        "keras.objectives",
        "keras.models.Input",
    }
)
OLD_CALLS = frozenset(
    {
        "fit_generator",
        "evaluate_generator",
        "predict_generator",
        "predict_classes",
        "predict_proba",
    }
)
OLD_KEYWORDS = frozenset(
    {
        "nb_epoch",
        "nb_filter",
        "nb_row",
        "nb_col",
        "border_mode",
        "samples_per_epoch",
        "W_regularizer",
        "batch_input_shape",
    }
)
OLD_WORDS = re.compile(r"""\bnp\.(float|int|object)\b|\bK\.function\(|["']logcosh["']""")
"""What Keras 3, or the numpy that it needs, no longer has."""
TRAINERS = frozenset(["Trainer", "TrainingArguments", "Seq2SeqTrainer", "Seq2SeqTrainingArguments"])


@lru_cache(maxsize=256)
def framework_of(program: Program) -> Framework:
    """The framework of a program; UNKNOWN when it imports none."""
    indexes = list(Sources(program).indexes.values())
    imported = {binding.dotted for index in indexes for binding in index.imports}
    tops = {name.partition(".")[0] for name in imported}
    if "transformers" in tops and any(name.rpartition(".")[2] in TRAINERS for name in imported):
        return Framework.TRANSFORMERS
    if tops & {"lightning", "pytorch_lightning"}:
        return Framework.LIGHTNING
    if "keras" in tops:
        old = any(OLD_MODULES.match(name) or name in OLD_IMPORTS for name in imported)
        called = any(_old_call(call) for index in indexes for call in index.calls)
        worded = any(OLD_WORDS.search(index.text) for index in indexes)
        return Framework.KERAS_OLD if old or called or worded else Framework.KERAS3
    if "tensorflow" in tops or "tf_keras" in tops:
        return Framework.TF_KERAS
    if "torch" in tops:
        return Framework.TORCH
    return Framework.TRANSFORMERS if "transformers" in tops else Framework.UNKNOWN


def _old_call(call: ast.Call) -> bool:
    name = last_name(dotted_text(call.func)) or method_name(call)
    if name in OLD_CALLS or any(part.arg in OLD_KEYWORDS for part in call.keywords):
        return True
    if (
        name in ("Dense", "Convolution2D", "LSTM", "GRU")
        and keyword(call, "init", "output_dim") is not None
    ):
        return True
    optimizer = name in (
        "SGD",
        "Adam",
        "RMSprop",
        "Adagrad",
        "Adadelta",
        "Adamax",
        "Nadam",
    )
    return optimizer and keyword(call, "lr", "decay") is not None and not call.args
