"""Layers and activations as the text makes them: every constructor call, whose model it belongs to,
its path in that model, all the ways in which an activation is written; and the layers that an
expression in forward code applies: `self.fc1`, `self.blocks[0]`, `layers.Dense(8)`, a loop
variable.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count

from reenact.program.flow.constants import constant_of, read_through
from reenact.program.flow.ends import NOT_LITERAL, literal
from reenact.program.flow.library_names import last_name
from reenact.program.flow.sources import Sources
from reenact.program.flow.values import Callee, Callees, Made, Values
from reenact.program.hyperparameter import Kind
from reenact.program.syntax.calls import argument, keyword
from reenact.program.syntax.index import dotted_text
from reenact.program.syntax.scope import Scope, bindings_of, scope_of
from reenact.program.syntax.targets import How
from reenact.program.training import lexicon
from reenact.program.training.positions import (
    LISTS,
    SEQUENTIAL,
    LayerPosition,
    elements,
    find_position,
)
from reenact.program.training.vocabulary import LayerSpec, Slot

TORCH_HOMES = ("torch.nn.functional", "torch", "torch.special")
KERAS_HOMES = ("keras.ops", "keras.activations", "keras.ops.nn")
TENSORFLOW_HOMES = ("tensorflow.nn", "tensorflow", "tensorflow.math", "jax.nn")


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
    callee: Callee | None = None


def activation_word(name: str) -> str:
    """Our word for what a library or a user calls an activation: `LeakyReLU` is `leaky_relu`."""
    if name in lexicon.TORCH_ACTIVATION_BY_CLASS:
        return lexicon.TORCH_ACTIVATION_BY_CLASS[name]
    if name in lexicon.KERAS_ACTIVATION_LAYERS:
        return lexicon.KERAS_ACTIVATION_LAYERS[name]
    word = name.rstrip("_").lower()
    return {
        "swish": "silu",
        "leakyrelu": "leaky_relu",
        "hard_swish": "hardswish",
    }.get(word, word)


def bend_word(dotted: str) -> str:
    """Our word for an activation function by its canonical name, or empty."""
    home, _, name = dotted.rpartition(".")
    if home in TORCH_HOMES:
        known = name.rstrip("_") in lexicon.TORCH_ACTIVATION_FUNCTIONS
    elif home in KERAS_HOMES:
        known = name.rstrip("_") in lexicon.KERAS_ACTIVATIONS
    else:
        known = home in TENSORFLOW_HOMES and name in lexicon.KERAS_ACTIVATIONS
    return activation_word(name) if known else ""


@dataclass(slots=True, eq=False)
class LayerSite:
    """One constructor call of a layer in the source."""

    made: Made
    library: str
    """`torch` or `keras`."""
    name: str
    """Class name as the library spells it."""
    spec: LayerSpec
    position: LayerPosition
    path: str = ""
    """Path in its model, unique there."""
    activation: ActivationSite | None = None
    """What is applied to its output, wherever that is written."""
    bare: bool = False
    """Its output goes into another weighted layer and nothing activates it on the way."""
    output: bool = False
    """Its output is what the model returns."""
    bare_output: bool = False
    """It is returned as it is: no activation acts on it."""
    feeds: dict[LayerSite, None] = field(default_factory=dict)
    """Layers whose input width is its output width: the next weighted ones and the norms on the
    way.
    """
    counted: bool = False
    """A dense layer after it counts what comes out: no pooling in between makes one size of
    every size.
    """
    tied: bool = False
    """Its output is added to another tensor, so that both must stay of one width."""
    heads: list[ast.Call] = field(default_factory=list)
    """Expressions in forward code that apply this layer and no other."""
    seen: bool = False
    """A tensor was followed through it."""

    @property
    def call(self) -> ast.Call:
        return self.made.call

    @property
    def role(self) -> str:
        if self.output:
            return "output"
        return "hidden" if self.spec.weighted else ""

    def filling(self, slot: Slot | None) -> ast.expr | None:
        """The argument that fills a slot, where it is written."""
        if slot is None:
            return None
        return argument(self.call, slot.position, *slot.names)

    def given(self, *kinds: Kind) -> ast.expr | None:
        """The first written argument of one of these kinds."""
        values = (self.filling(slot) for slot in self.spec.slots if slot.kind in kinds)
        for value in values:
            if value is not None:
                return value
        return None

    @property
    def scope(self) -> Scope:
        return scope_of(self.call)

    @property
    def model(self) -> str:
        return self.position.model


def library_spec(dotted: str) -> tuple[str, str, LayerSpec] | None:
    """The layer class behind a canonical name."""
    name = last_name(dotted)
    if dotted == f"torch.nn.{name}" and name in lexicon.TORCH_LAYERS:
        return "torch", name, lexicon.TORCH_LAYERS[name]
    if dotted == f"keras.layers.{name}" and name in lexicon.KERAS_LAYERS:
        return "keras", name, lexicon.KERAS_LAYERS[name]
    return None


def find_layers(sources: Sources, callees: Callees, values: Values) -> list[LayerSite]:
    """All layers in the order of the text, with paths that are unique in their model."""
    found: list[LayerSite] = []
    for call in sources.calls():
        specs = ((callee, library_spec(callee.dotted)) for callee in callees.of(call))
        for callee, known in [(callee, known) for callee, known in specs if known is not None][:1]:
            library, name, spec = known
            found.append(
                LayerSite(
                    Made(callee, call),
                    library,
                    name,
                    spec,
                    find_position(sources, call),
                )
            )
    _name_paths(found)
    for layer in found:
        # `activation="relu"`, `activation=tf.nn.relu`, or a trail that ends in either.
        for given in values.find(layer.given(Kind.ACTIVATION))[:1]:
            named = next(
                iter(callees.named(given.use)),
                None,
            )
            written = given.value if isinstance(given.value, str) else "linear"
            word = activation_word(last_name(named.dotted) if named is not None else written)
            layer.activation = ActivationSite(Way.ARGUMENT, word, layer.call, named)
    return found


def _name_paths(layers: list[LayerSite]) -> None:
    taken: set[tuple[str, str, str]] = set()
    numbers: defaultdict[tuple[str, str, str], Iterator[int]] = defaultdict(count)
    for layer in layers:
        given = literal(constant_of(keyword(layer.call, "name")))
        base = layer.position.path or (given if isinstance(given, str) else layer.name.lower())
        own = (layer.scope.file, layer.model)
        numbered = (base if not number else f"{base}_{number}" for number in numbers[*own, base])
        layer.path = next(path for path in numbered if (*own, path) not in taken)
        taken.add((*own, layer.path))


Run = list[list[LayerSite]]
"""Steps one after the other, each a choice of layers; an empty step is something unknown."""

MAX_STEPS = 4_000


class Applied:
    """Finds the layers behind an expression that is called."""

    def __init__(self, callees: Callees, layers: list[LayerSite]) -> None:
        self.callees = callees
        self.sources = callees.sources
        self._inside: set[ast.Call] = set()
        self.by_call = {layer.call: layer for layer in layers}
        self.by_path = {(layer.scope.file, layer.model, layer.path): layer for layer in layers}

    def layers(self, node: ast.expr) -> Run | None:
        """The run of layers, or none when the expression is not a layer at all."""
        if isinstance(node, ast.Call) and node in self.by_call:
            return [[self.by_call[node]]]
        if isinstance(node, ast.Call) and self.sources.dotted(node.func) in SEQUENTIAL:
            return self._elements(node)
        if isinstance(node, ast.Subscript):
            return self._indexed(node)
        loops = [b.value for b in bindings_of(node) if b.how is How.LOOP and b.value and not b.pick]
        looped = self.layers(loops[-1]) if loops else None
        if looped is not None:
            # `for layer in self.layers: x = layer(x)`: one step that may be any of them.
            return [[layer for step in looped for layer in step]]
        found = self._attribute(node) if isinstance(node, ast.Attribute) else None
        return found if found is not None else self._made(node)

    def _made(
        self,
        node: ast.expr,
        holders: frozenset[str] = SEQUENTIAL,
    ) -> Run | None:
        """Follow a name to the constructor."""
        made = self.callees.made(node)
        choice = [self.by_call[item.call] for item in made if item.call in self.by_call]
        if choice:
            return [choice]
        for item in made:
            if item.callee.dotted in holders:
                return self._elements(item.call)
        return None

    def _attribute(self, node: ast.Attribute) -> Run | None:
        """`self.name`: the layer of that path, or all layers of the container of that name."""
        owner = self.sources.owner(node.value)
        lineage = self.sources.lineage(owner) if owner is not None and dotted_text(node) else []
        stores = [store for one in lineage for store in self.sources.stores(one, node.attr)]
        if owner is None or not stores:
            return None
        layer = self.by_path.get((owner.file, owner.name, node.attr))
        if layer is not None:
            return [[layer]]
        return self._made(stores[0].value, SEQUENTIAL | LISTS)

    def _elements(self, call: ast.Call) -> Run:
        if call in self._inside:
            return [[]]
        run: Run = []
        self._inside.add(call)
        try:
            for part in elements(self.sources, call):
                inner = self.layers(part) if not isinstance(part, ast.Starred) else None
                run += inner if inner is not None else [[]]
        finally:
            self._inside.discard(call)
        return run[:MAX_STEPS]

    def _indexed(self, node: ast.Subscript) -> Run | None:
        """`self.blocks[0]` and `self.blocks[:-1]`."""
        run = self.layers(node.value)
        if run is None:
            return None
        if isinstance(node.slice, ast.Slice):
            parts = (
                node.slice.lower,
                node.slice.upper,
                node.slice.step,
            )
            bounds = [literal(read_through(part)) if part is not None else None for part in parts]
            return run[slice(*(bound if isinstance(bound, int) else None for bound in bounds))]
        number = literal(read_through(node.slice))
        if number is NOT_LITERAL:
            return [[layer for step in run for layer in step]]
        if isinstance(number, int) and -len(run) <= number < len(run):
            return [run[number]]
        return [[]]
