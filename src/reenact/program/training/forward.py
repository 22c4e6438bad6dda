"""Follow a tensor through forward code: which layers it passes, which activation acts on whose
output.

Every statement of a `forward` or `call`, or of a function that builds a functional Keras model, is
walked once (loop bodies twice). What is not understood makes the tensor's past unknown, so that
nothing is claimed about it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass

from reenact.program.flow.constants import constant_of
from reenact.program.flow.sources import Instance, Sources
from reenact.program.syntax.calls import method_name
from reenact.program.syntax.scope import Scope
from reenact.program.training import lexicon
from reenact.program.training.layers import (
    ActivationSite,
    Applied,
    LayerSite,
    Way,
    activation_word,
    bend_word,
)
from reenact.program.training.vocabulary import Family

PASSING = frozenset(
    (
        Family.DROPOUT,
        Family.NORM,
        Family.POOL,
        Family.SHAPE,
        Family.NOISE,
        Family.INPUT,
    )
)
BENDS = frozenset((Family.DENSE, Family.CONV))
MAX_INLINE = 3


@dataclass(frozen=True, slots=True)
class Tensor:
    """What is known about a value: the layers whose output it is, still unbent or not."""

    open: frozenset[LayerSite] = frozenset()
    """Layers whose output no activation has acted on yet."""
    made_by: frozenset[LayerSite] = frozenset()
    """The last weighted layers it went through."""
    sized_by: frozenset[LayerSite] = frozenset()
    """Convolutions that its size still depends on."""

    def __or__(self, other: Tensor) -> Tensor:
        return Tensor(
            self.open | other.open,
            self.made_by | other.made_by,
            self.sized_by | other.sized_by,
        )

    def bent(self) -> Tensor:
        """The same tensor after something that is not a layer acted on its values."""
        return Tensor(frozenset(), self.made_by, self.sized_by)


NOTHING = Tensor()


class Flow:
    """Walks forward code of one program."""

    def __init__(self, sources: Sources, applied: Applied) -> None:
        self.sources = sources
        self.applied = applied
        self.activations: list[ActivationSite] = []
        self.functions: list[ast.Call] = []
        """Calls in forward code that are not layers: functional dropout and pooling are found
        among them.
        """
        self.taken: set[LayerSite] = set()
        """Layers whose output another layer takes."""
        self._inlining: list[Scope] = []
        self._seen: set[ast.Call] = set()

    def walk(
        self,
        function: Scope,
        names: dict[str, Tensor] | None = None,
    ) -> Tensor:
        """Go through a function; what it returns."""
        node = function.node
        known = {} if names is None else names
        if isinstance(node, ast.Lambda):
            return self.value(node.body, known)
        body = (
            node.body
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Module)
            else []
        )
        return self._block(body, known)

    def _block(
        self,
        statements: Iterable[ast.stmt],
        names: dict[str, Tensor],
    ) -> Tensor:
        returned = NOTHING
        for statement in statements:
            returned |= self._statement(statement, names)
        return returned

    def _statement(
        self,
        node: ast.stmt,
        names: dict[str, Tensor],
    ) -> Tensor:
        if isinstance(node, ast.Return):
            if node.value is not None:
                return self.value(node.value, names)
            return NOTHING
        if isinstance(node, ast.Assign):
            value = self.value(node.value, names)
            for target in node.targets:
                self._bind(target, node.value, value, names)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._bind(
                node.target,
                node.value,
                self.value(node.value, names),
                names,
            )
        elif isinstance(node, ast.AugAssign):
            both = self.value(node.target, names) | self.value(node.value, names)
            self._bind(
                node.target,
                None,
                self._joined(both, node.value),
                names,
            )
        elif isinstance(node, ast.Expr):
            self.value(node.value, names)
        else:
            return self._compound(node, names)
        return NOTHING

    def _compound(
        self,
        node: ast.stmt,
        names: dict[str, Tensor],
    ) -> Tensor:
        """Statements that hold blocks; definitions inside forward code are left alone."""
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            if not isinstance(node, ast.While):
                self.value(node.iter, names)
            return self._block(
                [*node.body, *node.body, *node.orelse],
                names,
            )
        if isinstance(node, ast.If):
            return self._branches((node.body, node.orelse), names)
        if isinstance(node, ast.With | ast.AsyncWith):
            return self._block(node.body, names)
        if isinstance(node, ast.Try):
            return self._block(
                [*node.body, *node.orelse, *node.finalbody],
                names,
            )
        return NOTHING

    def _branches(
        self,
        branches: Iterable[list[ast.stmt]],
        names: dict[str, Tensor],
    ) -> Tensor:
        returned, before = NOTHING, dict(names)
        for branch in branches:
            inside = dict(before)
            returned |= self._block(branch, inside)
            for name, value in inside.items():
                names[name] = names.get(name, NOTHING) | value if name in before else value
        return returned

    def _bind(
        self,
        target: ast.expr,
        value: ast.expr | None,
        tensor: Tensor,
        names: dict[str, Tensor],
    ) -> None:
        if isinstance(target, ast.Name):
            names[target.id] = tensor
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else None
            for number, part in enumerate(target.elts):
                one = parts[number] if parts is not None and number < len(parts) else None
                self._bind(
                    part,
                    one,
                    self.value(one, names) if one is not None else tensor,
                    names,
                )

    def value(
        self,
        node: ast.expr | None,
        names: dict[str, Tensor],
    ) -> Tensor:
        """The tensor an expression stands for."""
        if node is None or isinstance(node, ast.Constant | ast.JoinedStr | ast.Lambda):
            return NOTHING
        if isinstance(node, ast.Name):
            return names.get(node.id, NOTHING)
        if isinstance(node, ast.Call):
            return self._call(node, names)
        if isinstance(node, ast.BinOp):
            return self._operation(node, names)
        if isinstance(
            node,
            ast.Attribute | ast.Subscript | ast.Starred | ast.Await | ast.NamedExpr,
        ):
            value = self.value(node.value, names)
            names |= {node.target.id: value} if isinstance(node, ast.NamedExpr) else {}
            return value
        if isinstance(node, ast.ListComp | ast.GeneratorExp | ast.SetComp):
            for part in node.generators:
                self.value(part.iter, names)
            return self.value(node.elt, names)
        result = NOTHING
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr):
                result |= self.value(child, names)
        return result

    def _operation(self, node: ast.BinOp, names: dict[str, Tensor]) -> Tensor:
        both = self.value(node.left, names) | self.value(node.right, names)
        constants = map(constant_of, (node.left, node.right))
        if any(one is not None for one in constants):
            return both
        return self._joined(both, node.right)

    def _joined(self, both: Tensor, other: ast.expr) -> Tensor:
        """Two tensors added: their layers must stay of one width."""
        if constant_of(other) is None:
            for layer in both.made_by:
                layer.tied = True
        return both.bent()

    def _call(
        self,
        node: ast.Call,
        names: dict[str, Tensor],
    ) -> Tensor:
        given = NOTHING
        for part in (
            *node.args,
            *(keyword.value for keyword in node.keywords),
        ):
            given |= self.value(part, names)
        run = self.applied.layers(node.func)
        if run is not None:
            if len(run) == 1 and len(run[0]) == 1 and node not in run[0][0].heads:
                run[0][0].heads.append(node)
            return self.through(run, given)
        if isinstance(node.func, ast.Attribute):
            given |= self.value(node.func.value, names)
        elif isinstance(node.func, ast.Call):
            given |= self.value(node.func, names)
        return self._function(node, given)

    def _function(self, node: ast.Call, given: Tensor) -> Tensor:
        target = self.sources.meaning(node.func)
        word = bend_word(target) if isinstance(target, str) else ""
        if word:
            return self._bend(ActivationSite(Way.FUNCTION, word, node), given)
        if target is None and method_name(node) in lexicon.TORCH_TENSOR_METHODS:
            word = activation_word(method_name(node))
            return self._bend(ActivationSite(Way.METHOD, word, node), given)
        if isinstance(target, Instance):
            return NOTHING
        if isinstance(target, Scope):
            return self._own(target, given)
        if node not in self._seen:
            self._seen.add(node)
            self.functions.append(node)
        return given

    def _own(self, target: Scope, given: Tensor) -> Tensor:
        """A function or method of the program is gone through; an object of its own class is a
        closed box.
        """
        if not target.is_function or target in self._inlining or len(self._inlining) >= MAX_INLINE:
            return NOTHING
        self._inlining.append(target)
        try:
            return self.walk(
                target,
                {name: given for name in target.bindings if name != "self"},
            )
        finally:
            self._inlining.pop()

    def _bend(self, site: ActivationSite, given: Tensor) -> Tensor:
        for layer in given.open:
            if layer.activation is None:
                layer.activation = site
        if site.call not in self._seen:
            self._seen.add(site.call)
            self.activations.append(site)
        return given.bent()

    def through(self, run: list[list[LayerSite]], given: Tensor) -> Tensor:
        """Pass a tensor through layers that follow one another; alternatives are side by side."""
        for step in run:
            result = NOTHING
            for layer in step:
                result |= self._layer(layer, given)
            given = result if step else NOTHING
        return given

    def _layer(self, layer: LayerSite, given: Tensor) -> Tensor:
        family = layer.spec.family
        layer.seen = True
        if family is Family.ACTIVATION:
            if layer.activation is None:
                word = activation_word(layer.name)
                layer.activation = ActivationSite(
                    Way.LAYER,
                    word,
                    layer.call,
                    layer.made.callee,
                )
            return self._bend(layer.activation, given)
        if family is Family.MERGE:
            return given.bent()
        if family not in PASSING or family is Family.NORM:
            for before in given.made_by:
                before.feeds[layer] = None
        if family in PASSING:
            pooled = layer.name.startswith(("Adaptive", "Global"))
            if pooled:
                return Tensor(given.open, given.made_by)
            return given
        self.taken |= given.made_by
        return self._weighted(layer, given)

    def _weighted(self, layer: LayerSite, given: Tensor) -> Tensor:
        family = layer.spec.family
        here = frozenset((layer,))
        for before in given.sized_by if family is Family.DENSE else ():
            before.counted = True
        if family in BENDS or family is Family.RECURRENT:
            for before in given.open:
                before.bare = before.bare or before.activation is None
            closed = layer.activation is not None or family is Family.RECURRENT
            sized = given.sized_by | here if family is Family.CONV else frozenset()
            return Tensor(frozenset() if closed else here, here, sized)
        if family is Family.EMBEDDING:
            return Tensor(made_by=here)
        return NOTHING
