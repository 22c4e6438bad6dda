"""Who binds a name, and how: the vocabulary of the index."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode: TypeAlias = ast.Module | ast.ClassDef | FunctionNode | ast.comprehension


class How(Enum):
    """How a name gets its value."""

    ASSIGN = auto()
    """`name = value`, also unpacked: `pick` says which element."""
    LOOP = auto()
    """`for name in value`."""
    WITH = auto()
    """`with value as name`."""
    PARAMETER = auto()
    IMPORT = auto()
    FUNCTION = auto()
    CLASS = auto()
    OTHER = auto()
    """Augmented, deleted, caught, captured: the value is not one expression."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One place that gives a name its value."""

    name: str
    how: How
    node: ast.AST
    value: ast.expr | None = None
    """The expression, when there is one; the default of a parameter."""
    pick: tuple[int, ...] = ()
    """Indices into the value, for unpacking."""
    dotted: str = ""
    """Full dotted name of what is imported."""
    level: int = 0
    """Leading dots of a relative import."""


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension, and the names bound in it."""

    node: ScopeNode
    name: str
    parent: Scope | None
    file: str
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    stars: list[Binding] = field(default_factory=list)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)

    def bind(self, binding: Binding) -> None:
        self.bindings.setdefault(binding.name, []).append(binding)

    def find(self, name: str) -> tuple[Scope, list[Binding]] | None:
        """The scope that binds a name as seen from here, with all its bindings there."""
        scope: Scope | None = self
        first = True
        while scope is not None:
            visible = first or not scope.is_class
            if visible and name in scope.bindings and name not in scope.globals:
                return scope, scope.bindings[name]
            first = False
            scope = scope.parent
        return None

    def enclosing_class(self) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and not scope.is_class:
            scope = scope.parent
        return scope

    def enclosing_function(self) -> Scope | None:
        scope: Scope | None = self
        while scope is not None and not scope.is_function:
            scope = scope.parent
        return scope
