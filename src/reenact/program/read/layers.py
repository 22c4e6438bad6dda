"""Layers as the text makes them: every constructor call, whose model it belongs to, and its path in that
model."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import StrEnum

from reenact.program.read import keras_words, torch_words
from reenact.program.read.activations import ActivationSite
from reenact.program.read.callees import Callees, Made
from reenact.program.read.calls import keyword
from reenact.program.read.names import last_name
from reenact.program.read.scope import Scope
from reenact.program.read.seats import Seat, find_seat
from reenact.program.read.sources import Sources
from reenact.program.read.vocabulary import LayerSpec


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
    seat: Seat
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
        return self.seat.model


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
            seat = find_seat(sources, index, call, scope)
            found.append(LayerSite(Made(callee, call, scope), library, name, spec, seat))
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
    if layer.seat.path:
        return layer.seat.path
    given = keyword(layer.call, "name")
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    return layer.name.lower()
