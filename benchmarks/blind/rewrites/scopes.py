"""Which scope every name of a file belongs to."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(eq=False)
class Scope:
    """A module, class, function or comprehension."""

    node: ast.AST
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    imported: set[str] = field(default_factory=set)
    """Those that an import binds."""
    parameters: set[str] = field(default_factory=set)
    elsewhere: dict[str, str] = field(default_factory=dict)
    """Names that are declared `global` or `nonlocal`."""

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def module(self) -> Scope:
        return self if self.parent is None else self.parent.module

    def owner(self, name: str) -> Scope | None:
        """The scope whose name it is; none: a builtin."""
        if self.elsewhere.get(name) == "global":
            return self.module if name in self.module.bound else None
        if name in self.bound and name not in self.elsewhere:
            return self
        scope = self.parent
        while scope is not None:
            if name in scope.bound and not scope.is_class and name not in scope.elsewhere:
                return scope
            scope = scope.parent
        return None


@dataclass(frozen=True, slots=True)
class Use:
    """One place where a name is written."""

    name: str
    node: ast.AST
    """A name, a parameter, a definition, an import, an exception's name, or a declaration."""
    scope: Scope

    @property
    def owner(self) -> Scope | None:
        return self.scope.owner(self.name)


class Scopes(ast.NodeVisitor):
    """The scopes of a tree and every use of a name in it."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(tree, None)
        self.uses: list[Use] = []
        self.of_node: dict[ast.AST, Scope] = {tree: self.module}
        """What a node opens."""
        self.around: dict[ast.AST, Scope] = {}
        """The scope in which an expression or statement is evaluated."""
        self._scope = self.module
        for statement in tree.body:
            self.visit(statement)

    def visit(self, node: ast.AST) -> None:
        self.around[node] = self._scope
        super().visit(node)

    def _bind(self, name: str, node: ast.AST) -> None:
        self._scope.bound.add(name)
        self.uses.append(Use(name, node, self._scope))

    def _inside(self, node: ast.AST, children: Iterable[ast.AST]) -> None:
        outer, self._scope = self._scope, self.of_node.setdefault(node, Scope(node, self._scope))
        for child in children:
            self.visit(child)
        self._scope = outer

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._scope.bound.add(node.id)
        self.uses.append(Use(node.id, node, self._scope))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        outer = self._scope
        while isinstance(self._scope.node, COMPREHENSIONS) and self._scope.parent is not None:
            self._scope = self._scope.parent
        self.visit(node.target)
        self._scope = outer

    def _visit_definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._bind(node.name, node)
        for decorator in node.decorator_list:
            self.visit(decorator)
        self._visit_signature(node.args)
        if node.returns is not None:
            self.visit(node.returns)
        self._open(node, node.body)

    visit_FunctionDef = _visit_definition  # noqa: N815 - names of ast.NodeVisitor
    visit_AsyncFunctionDef = _visit_definition  # noqa: N815

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._visit_signature(node.args)
        self._open(node, [node.body])

    def _visit_signature(self, arguments: ast.arguments) -> None:
        """Defaults and annotations are evaluated outside."""
        for default in (*arguments.defaults, *arguments.kw_defaults):
            if default is not None:
                self.visit(default)
        for argument in parameters_of(arguments):
            if argument.annotation is not None:
                self.visit(argument.annotation)

    def _open(self, node: FunctionNode, body: Sequence[ast.AST]) -> None:
        scope = self.of_node.setdefault(node, Scope(node, self._scope))
        for argument in parameters_of(node.args):
            scope.bound.add(argument.arg)
            scope.parameters.add(argument.arg)
            self.uses.append(Use(argument.arg, argument, scope))
        self._inside(node, body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name, node)
        for outside in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(outside)
        self._inside(node, node.body)

    def _visit_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        more = [part for one in others for part in (one.target, one.iter, *one.ifs)]
        self._inside(node, [first.target, *first.ifs, *more, *made])

    visit_ListComp = _visit_comprehension  # noqa: N815
    visit_SetComp = _visit_comprehension  # noqa: N815
    visit_DictComp = _visit_comprehension  # noqa: N815
    visit_GeneratorExp = _visit_comprehension  # noqa: N815

    def _visit_import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name
            if isinstance(node, ast.Import) and alias.asname is None:
                name = name.partition(".")[0]
            self._scope.imported.add(name)
            self._bind(name, alias)
            self.around[alias] = self._scope

    visit_Import = _visit_import  # noqa: N815
    visit_ImportFrom = _visit_import  # noqa: N815

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self._bind(node.name, node)
        self.generic_visit(node)

    def _visit_declaration(self, node: ast.Global | ast.Nonlocal) -> None:
        how = "global" if isinstance(node, ast.Global) else "nonlocal"
        for name in node.names:
            self._scope.elsewhere[name] = how
            if how == "global":
                self.module.bound.add(name)
            self.uses.append(Use(name, node, self._scope))

    visit_Global = _visit_declaration  # noqa: N815
    visit_Nonlocal = _visit_declaration  # noqa: N815

    def visit_Match(self, node: ast.Match) -> None:
        raise NotImplementedError(f"A match statement binds names. Received: line {node.lineno}.")


def parameters_of(arguments: ast.arguments) -> list[ast.arg]:
    """All of them, in order."""
    positional = [*arguments.posonlyargs, *arguments.args]
    variadic = [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return [*positional, *arguments.kwonlyargs, *variadic]
