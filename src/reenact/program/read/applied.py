"""Which layers an expression in forward code applies: `self.fc1`, `self.blocks[0]`, `layers.Dense(8)`, a
loop variable."""

from __future__ import annotations

import ast

from reenact.program.read.index import dotted_text
from reenact.program.read.layers import LayerSite
from reenact.program.read.positions import LISTS, SEQUENTIAL, elements
from reenact.program.read.scope import How, Scope
from reenact.program.read.values import Callees

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

    def layers(self, node: ast.expr, scope: Scope) -> Run | None:
        """The run of layers, or none when the expression is no layer at all."""
        if isinstance(node, ast.Call) and node in self.by_call:
            return [[self.by_call[node]]]
        if isinstance(node, ast.Call) and self.sources.dotted(node.func, scope) in SEQUENTIAL:
            return self._elements(node, scope)
        if isinstance(node, ast.Subscript):
            return self._indexed(node, scope)
        if isinstance(node, ast.Name):
            looped = self._looped(node, scope)
            if looped is not None:
                return looped
        if isinstance(node, ast.Attribute):
            found = self._attribute(node, scope)
            if found is not None:
                return found
        return self._made(node, scope)

    def _made(self, node: ast.expr, scope: Scope) -> Run | None:
        """Follow a name to the constructor."""
        if not isinstance(node, ast.Name | ast.Attribute | ast.Call):
            return None
        made = self.callees.made(node, scope)
        choice = [self.by_call[item.call] for item in made if item.call in self.by_call]
        if choice:
            return [choice]
        for item in made:
            if item.callee.dotted in SEQUENTIAL:
                return self._elements(item.call, item.scope)
        return None

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Run | None:
        """`self.name`: the layer of that path, or all layers of the container of that name."""
        owner = self.sources.owner(node.value, scope)
        if owner is None or not dotted_text(node):
            return None
        stores = [
            store for one in self.sources.lineage(owner) for store in self.sources.stores(one, node.attr)
        ]
        if not stores:
            return None
        layer = self.by_path.get((owner.file, owner.name, node.attr))
        return [[layer]] if layer is not None else self._container(stores[0].value, stores[0].scope)

    def _container(self, node: ast.expr, scope: Scope) -> Run | None:
        for item in self.callees.made(node, scope):
            if item.call in self.by_call:
                return [[self.by_call[item.call]]]
            if item.callee.dotted in SEQUENTIAL or item.callee.dotted in LISTS:
                return self._elements(item.call, item.scope)
        return None

    def _elements(self, call: ast.Call, scope: Scope) -> Run:
        if call in self._inside:
            return [[]]
        run: Run = []
        self._inside.add(call)
        try:
            for part, where in elements(self.sources, call, scope):
                inner = self.layers(part, where) if not isinstance(part, ast.Starred) else None
                run += inner if inner is not None else [[]]
        finally:
            self._inside.discard(call)
        return run[:MAX_STEPS]

    def _indexed(self, node: ast.Subscript, scope: Scope) -> Run | None:
        """`self.blocks[0]` and `self.blocks[:-1]`."""
        run = self.layers(node.value, scope)
        if run is None:
            return None
        if isinstance(node.slice, ast.Slice):
            return run[_slice(node.slice)]
        try:
            number = ast.literal_eval(node.slice)
        except ValueError:
            return [[layer for step in run for layer in step]]
        return [run[number]] if isinstance(number, int) and -len(run) <= number < len(run) else [[]]

    def _looped(self, node: ast.Name, scope: Scope) -> Run | None:
        """`for layer in self.layers: x = layer(x)`: one step that may be any of them."""
        found = scope.find(node.id)
        if found is None:
            return None
        holder, bindings = found
        loops = [b for b in bindings if b.how is How.LOOP and b.value is not None and not b.pick]
        if not loops or loops[-1].value is None:
            return None
        run = self.layers(loops[-1].value, holder)
        return None if run is None else [[layer for step in run for layer in step]]


def _slice(node: ast.Slice) -> slice:
    bounds = []
    for part in (node.lower, node.upper, node.step):
        try:
            bounds.append(None if part is None else ast.literal_eval(part))
        except ValueError:
            bounds.append(None)
    return slice(*bounds)
