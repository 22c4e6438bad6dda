"""Attributes of the program's own classes: fields, class attributes, what `__init__` stores, Lightning's
hparams."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from reenact.program.hyperparameter import Written
from reenact.program.read.ends import End
from reenact.program.read.scope import How, Scope, keyword
from reenact.program.read.sources import MAX_DEPTH, Sources

if TYPE_CHECKING:
    from reenact.program.read.follow import Follower
    from reenact.program.read.members import Members


class Instances:
    """Looks inside objects of the program's own classes."""

    def __init__(self, sources: Sources, follower: Follower, members: Members) -> None:
        self.sources = sources
        self.follower = follower
        self.members = members

    def attribute(self, owner: Scope, name: str, depth: int) -> list[End]:
        """An attribute of some instance: stored once in a method, or bound in the class body."""
        index = self.sources.index(owner)
        stores = [
            s for s in index.stores.get(name, ()) if s.base == "self" and s.scope.enclosing_class() is owner
        ]
        if len(stores) == 1:
            return self.members.store(stores[0], depth)
        if stores:
            return []
        method = self.sources.method(owner, name)
        if method is not None and _is_property(method):
            return self.follower.returned(method, depth)
        return self.class_attribute(owner, name, depth)

    def class_attribute(self, owner: Scope, name: str, depth: int) -> list[End]:
        bindings = [b for b in owner.bindings.get(name, ()) if b.how is How.ASSIGN]
        if len(bindings) == 1 and bindings[0].value is not None:
            return self._field(bindings[0].value, owner, depth) or self.follower.bound(
                bindings[0], owner, depth
            )
        for base in self.sources.bases(owner) if depth < MAX_DEPTH else ():
            if isinstance(base, Scope) and base.is_class:
                found = self.attribute(base, name, depth + 1)
                if found:
                    return found
        return []

    def _field(self, value: ast.expr, owner: Scope, depth: int) -> list[End]:
        """`field(default=...)` and `field(default_factory=...)`, pydantic's and attrs' likewise."""
        if not isinstance(value, ast.Call):
            return []
        if self.sources.dotted(value.func, owner).rpartition(".")[2].lower() not in ("field", "ib", "attrib"):
            return []
        default = keyword(value, "default") or (value.args[0] if value.args else None)
        if default is not None:
            return self.follower.follow(default, owner, Written.DATACLASS, depth)
        factory = keyword(value, "default_factory", "factory")
        if isinstance(factory, ast.Lambda):
            inner = self.sources.index(owner).inner[factory]
            return self.follower.follow(factory.body, inner, Written.DATACLASS, depth)
        made = self.sources.meaning(factory, owner) if factory is not None else None
        if isinstance(made, Scope) and made.is_class:
            return [End(made.node, made.parent or made, Written.DATACLASS)]
        return []

    def made(self, owner: Scope, call: ast.Call, name: str, scope: Scope, depth: int) -> list[End]:
        """An attribute of the instance that this very call makes."""
        if self.sources.method(owner, "__init__") is not None:
            return self.attribute(owner, name, depth)
        value = keyword(call, name)
        if value is None:
            position = self._field_position(owner, name)
            value = call.args[position] if position is not None and position < len(call.args) else None
        if value is not None:
            return self.follower.follow(value, scope, Written.LITERAL, depth)
        for extra in call.keywords:
            if extra.arg is None:
                found = [
                    inner
                    for end in self.follower.follow(extra.value, scope, depth=depth)
                    for inner in self.members.member(end, name, depth)
                ]
                if found:
                    return found
        return self.attribute(owner, name, depth)

    def _field_position(self, owner: Scope, name: str) -> int | None:
        assert isinstance(owner.node, ast.ClassDef)
        names = [
            part.target.id
            for part in owner.node.body
            if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name)
        ]
        return names.index(name) if name in names else None

    def hyper_parameter(self, node: ast.Attribute | ast.Subscript, scope: Scope, depth: int) -> list[End]:
        """`self.hparams.lr` of Lightning: the parameter `lr` of `__init__`."""
        base = node.value
        if not (isinstance(base, ast.Attribute) and base.attr in ("hparams", "hparams_initial")):
            return []
        owner = self.sources.owner(base.value, scope)
        start = self.sources.method(owner, "__init__") if owner is not None else None
        if start is None:
            return []
        name = node.attr if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            name = str(node.slice.value)
        bindings = start.bindings.get(name or "", [])
        return self.follower.bound(bindings[0], start, depth) if bindings else []


def _is_property(method: Scope) -> bool:
    decorators = getattr(method.node, "decorator_list", [])
    return any(
        isinstance(part, ast.Name) and part.id in ("property", "cached_property") for part in decorators
    )
