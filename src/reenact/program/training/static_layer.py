"""One layer as the text says it: what static rules look at, and what is shown of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TypedDict

from reenact.program.flow.constants import plain_value
from reenact.program.flow.ends import spot_of
from reenact.program.training.analysis import ProgramAnalysis
from reenact.program.training.layers import LayerSite
from reenact.types import JsonValue, Place


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
    """What is applied to its output (`relu`, `softmax`); none when nothing is, or no one can
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


def static_layer(analysis: ProgramAnalysis, layer: LayerSite) -> StaticLayer:
    """What the text reports one layer."""
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
    for one in layer.call.keywords:
        if one.arg and one.arg not in known:
            found.append((one.arg, one.value))
    return {name: _value(analysis, node) for name, node in found if node is not None}


def _value(analysis: ProgramAnalysis, node: ast.expr) -> JsonValue:
    values = analysis.values.find(node)
    if len(values) != 1:
        return plain_value(node)
    only = values[0]
    if only.computed is not None:
        return only.computed
    is_text = not only.is_literal and only.end.node is node
    return plain_value(node) if is_text else only.value
