"""The models of a program as its text makes them: layers, their order, who bends whose output."""

import ast
from functools import cached_property

from reenact.program.hyperparameter import Kind
from reenact.program.read import keras_words, torch_words
from reenact.program.read.analysis import ProgramAnalysis
from reenact.program.read.flow import NOTHING, Flow
from reenact.program.read.layers import (
    ActivationSite,
    Applied,
    LayerSite,
    Library,
    Way,
    activation_word,
    find_layers,
)
from reenact.program.read.positions import SEQUENTIAL, ContainerKind
from reenact.program.read.scope import Scope, is_name, scope_of
from reenact.program.source import Span

FORWARD = ("forward", "call")
MODEL_CLASSES = torch_words.MODULE_BASES | keras_words.MODEL_BASES


class Models:
    """All layers of a program and what was learned about them."""

    def __init__(self, analysis: ProgramAnalysis) -> None:
        self.analysis = analysis
        self.layers = find_layers(analysis.sources, analysis.callees)
        self.applied = Applied(analysis.callees, self.layers)
        self.flow = Flow(analysis.sources, self.applied)
        self.width_users: dict[Span, list[LayerSite]] | None = None
        """Filled by `widths`."""
        for layer in self.layers:
            value = layer.given(Kind.ACTIVATION)
            layer.activation = self.argument_activation(layer, value) if value is not None else None
        self._walk_classes()
        self._walk_functions()
        self._walk_sequences()

    @cached_property
    def classes(self) -> list[Scope]:
        """Classes of the program that are models or layers."""
        sources = self.analysis.sources
        return [
            owner
            for index in sources.indexes.values()
            for owner in index.classes
            if sources.inherits(owner, MODEL_CLASSES)
        ]

    def argument_activation(self, layer: LayerSite, value: ast.expr) -> ActivationSite | None:
        """`activation="relu"`, `activation=tf.nn.relu`, or a trail that ends in either."""
        analysis = self.analysis
        named = analysis.callees.named(value)
        if named:
            word = activation_word(named[0].dotted.rpartition(".")[2])
            return ActivationSite(Way.ARGUMENT, word, layer.call, named[0])
        found = analysis.values.find(value)
        if not found:
            return None
        text = found[0].value if isinstance(found[0].value, str) else "linear"
        return ActivationSite(Way.ARGUMENT, activation_word(text), layer.call, None, found[0])

    def _walk_classes(self) -> None:
        for owner in self.classes:
            for name in FORWARD:
                function = self.analysis.sources.own_method(owner, name)
                if function is None:
                    continue
                returned = self.flow.walk(function)
                if not self._is_part(owner):
                    _mark_output(returned.made_by, returned.open)

    def _is_part(self, owner: Scope) -> bool:
        """True when another model of the program is made of it."""
        sites = self.analysis.sources.sites.get(owner, [])
        inside = set(self.classes) - {owner}
        handed_over = any(
            self.analysis.sources.meaning(part) is owner
            for call in self.analysis.calls()
            for part in call.args
            if is_name(part, owner.name) and not is_name(call.func, "super")
        )
        return handed_over or any(scope_of(call).enclosing_class() in inside for call in sites)

    def _walk_functions(self) -> None:
        """Functions, or the module itself, that build a functional Keras model."""
        scopes = {
            layer.scope: None
            for layer in self.layers
            if layer.library is Library.KERAS and layer.position.kind is ContainerKind.APPLIED
        }
        for scope in scopes:
            if scope.enclosing_class() is not None or isinstance(scope.node, ast.comprehension):
                continue
            self.flow.walk(scope)
            self._functional_outputs(scope)

    def _functional_outputs(self, scope: Scope) -> None:
        """Layers applied in this scope whose result no other layer takes."""
        own = [layer for layer in self.layers if layer.scope is scope and layer.spec.weighted]
        last = frozenset(
            layer
            for layer in own
            if layer.position.kind is ContainerKind.APPLIED and layer not in self.flow.taken
        )
        _mark_output(last, frozenset(layer for layer in last if layer.activation is None))

    def _walk_sequences(self) -> None:
        calls = [
            call for call in self.analysis.calls() if self.analysis.sources.dotted(call.func) in SEQUENTIAL
        ]
        runs = [(self.applied.layers(call) or [], call) for call in calls]
        # The longest first: a block that stands inside another is then gone through as part of it.
        for run, call in sorted(runs, key=lambda item: -len(item[0])):
            if all(layer.seen for step in run for layer in step):
                continue
            returned = self.flow.through(run, NOTHING)
            owner = scope_of(call).enclosing_class()
            if owner is None or not any(name in owner.bindings for name in FORWARD):
                _mark_output(returned.made_by, returned.open)


def _mark_output(layers: frozenset[LayerSite], bare: frozenset[LayerSite]) -> None:
    for layer in layers:
        layer.output = True
        layer.bare_output = layer in bare
