"""Layers and activations as the text makes them: every constructor call, whose model it belongs to, its path
in that model, and all the ways in which an activation is written."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum, StrEnum, auto

from reenact.program.read import keras_words, torch_words
from reenact.program.read.positions import LayerPosition, find_position
from reenact.program.read.scope import Scope, keyword
from reenact.program.read.sources import Sources
from reenact.program.read.values import Callee, Callees, Found, Made
from reenact.program.read.vocabulary import LayerSpec, last_name

FUNCTION_HOMES = (
    "torch.nn.functional.",
    "torch.",
    "torch.special.",
    "keras.ops.",
    "keras.activations.",
    "keras.ops.nn.",
)
TENSORFLOW_HOMES = ("tensorflow.nn.", "tensorflow.", "tensorflow.math.", "jax.nn.")


class Way(Enum):
    """How an activation is written."""

    ARGUMENT = auto()
    """`Dense(8, activation="relu")`, `Activation("relu")`."""
    LAYER = auto()
    """`nn.ReLU()`, `layers.LeakyReLU()`."""
    FUNCTION = auto()
    """`F.relu(x)`, `torch.relu(x)`, `keras.ops.relu(x)`."""
    METHOD = auto()
    """`x.relu()`."""


@dataclass(frozen=True, slots=True, eq=False)
class ActivationSite:
    """One place that applies an activation."""

    way: Way
    word: str
    """Our word for it: `relu`, `leaky_relu`."""
    call: ast.Call
    """The constructor, the application, or the layer that takes the argument."""
    scope: Scope
    callee: Callee | None = None
    found: Found | None = None
    """For an argument: its value and place."""


def activation_word(name: str) -> str:
    """Our word for what a library or a user calls an activation: `LeakyReLU` is `leaky_relu`."""
    if name in torch_words.ACTIVATION_BY_CLASS:
        return torch_words.ACTIVATION_BY_CLASS[name]
    if name in keras_words.ACTIVATION_LAYERS:
        return keras_words.ACTIVATION_LAYERS[name]
    word = name.rstrip("_").lower()
    return {"swish": "silu", "leakyrelu": "leaky_relu", "hard_swish": "hardswish"}.get(word, word)


def function_word(dotted: str) -> str:
    """Our word for an activation function by its canonical name, or empty."""
    name = last_name(dotted)
    home = dotted[: -len(name)]
    if home in FUNCTION_HOMES:
        known = torch_words.ACTIVATION_FUNCTIONS if home.startswith("torch") else keras_words.ACTIVATIONS
        return activation_word(name) if name.rstrip("_") in known else ""
    if home in TENSORFLOW_HOMES:
        return activation_word(name) if name in keras_words.ACTIVATIONS else ""
    return ""


def method_word(call: ast.Call) -> str:
    """Our word for an activation applied as a tensor method, or empty."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in torch_words.TENSOR_METHODS:
        return activation_word(call.func.attr)
    return ""


class Library(StrEnum):
    """Whose layer it is."""

    TORCH = "torch"
    KERAS = "keras"


@dataclass(slots=True, eq=False)
class LayerSite:
    """One constructor call of a layer in the source."""

    made: Made
    library: Library
    name: str
    """Class name as the library spells it."""
    spec: LayerSpec
    position: LayerPosition
    path: str = ""
    """Path in its model, unique there."""
    activation: ActivationSite | None = None
    """What is applied to its output, wherever that is written."""
    bare: bool = False
    """Its output goes into another weighted layer and nothing bends it on the way."""
    output: bool = False
    """Its output is what the model returns."""
    bare_output: bool = False
    """It is returned as it is: no activation acts on it."""
    feeds: list[LayerSite] = field(default_factory=list)
    """Layers whose input width is its output width: the next weighted ones and the norms on the way."""
    reaches: list[LayerSite] = field(default_factory=list)
    """All weighted layers after it, without a pooling in between that makes one size of every size."""
    tied: bool = False
    """Its output is added to another tensor, so that both must stay of one width."""
    heads: list[tuple[ast.Call, Scope]] = field(default_factory=list)
    """Expressions in forward code that apply this layer and no other."""
    seen: bool = False
    """A tensor was followed through it."""

    @property
    def call(self) -> ast.Call:
        return self.made.call

    @property
    def scope(self) -> Scope:
        return self.made.scope

    @property
    def model(self) -> str:
        return self.position.model


def library_spec(dotted: str) -> tuple[Library, str, LayerSpec] | None:
    """The layer class behind a canonical name."""
    name = last_name(dotted)
    if dotted == f"torch.nn.{name}" and name in torch_words.LAYERS:
        return Library.TORCH, name, torch_words.LAYERS[name]
    if dotted == f"keras.layers.{name}" and name in keras_words.LAYERS:
        return Library.KERAS, name, keras_words.LAYERS[name]
    return None


def find_layers(sources: Sources, callees: Callees) -> list[LayerSite]:
    """All layers in the order of the text, with paths that are unique in their model."""
    found: list[LayerSite] = []
    for call, scope, index in sources.calls():
        for callee in callees.of(call, scope):
            known = library_spec(callee.dotted)
            if known is None:
                continue
            library, name, spec = known
            position = find_position(sources, index, call, scope)
            found.append(LayerSite(Made(callee, call, scope), library, name, spec, position))
            break
    _name_paths(found)
    return found


def _name_paths(layers: list[LayerSite]) -> None:
    taken: dict[tuple[str, str], set[str]] = {}
    for layer in layers:
        names = taken.setdefault((layer.scope.file, layer.model), set())
        base = _base_path(layer)
        path, number = base, 0
        while path in names:
            number += 1
            path = f"{base}_{number}"
        names.add(path)
        layer.path = path


def _base_path(layer: LayerSite) -> str:
    if layer.position.path:
        return layer.position.path
    given = keyword(layer.call, "name")
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    return layer.name.lower()
