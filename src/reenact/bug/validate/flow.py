"""What flows out of the project: names that hold, or are made from, something that project code gave.

Reads the script from top to bottom, twice, so that loops carry what they carry. A name is the project's when
its value comes from a call of the project, from an object of the project, or from another such name.
"""

from __future__ import annotations

import ast

from reenact.bug.project.lookup import Project
from reenact.bug.project.module import bound_names, targets_of
from reenact.bug.validate.bindings import Bindings, bindings_of


def flowing(tree: ast.Module, bindings: Bindings) -> frozenset[str]:
    """The names whose values come out of the project."""
    flow = _Flow(bindings)
    for _ in range(2):
        flow.generic_visit(tree)
    return frozenset(flow.names)


def flowing_lines(text: str, project: Project) -> frozenset[int]:
    """Lines of a script whose statements use something that came out of the project."""
    tree = ast.parse(text)
    bindings = bindings_of(tree, project)
    names = flowing(tree, bindings)
    found: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or hasattr(node, "body"):
            continue
        inside = (one for one in ast.walk(node) if isinstance(one, ast.Name))
        if any(one.id in names or bindings.is_project(one) for one in inside):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


class _Flow(ast.NodeVisitor):
    """One reading."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._literal: set[str] = set()
        self.names: set[str] = set()

    def visit_Assign(self, node: ast.Assign) -> None:
        self._bind(node, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node, node.value)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._bind(node, node.value)

    def visit_For(self, node: ast.For) -> None:
        self._bind(node, node.iter)
        for inner in (*node.body, *node.orelse):
            self.visit(inner)

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if item.optional_vars is not None and self.comes_from(item.context_expr):
                self._take(item.optional_vars)
        for inner in node.body:
            self.visit(inner)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function of the script gives what the project gave it."""
        self.generic_visit(node)
        returned = (inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value)
        if any(self.comes_from(value) for value in returned):
            self.names.add(node.name)

    def visit_Call(self, node: ast.Call) -> None:
        """Whatever a project call is given may come back changed; a plain constant may not."""
        self.generic_visit(node)
        given = [*node.args, *(one.value for one in node.keywords)]
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        if self.comes_from(node.func):
            for one in given:
                if isinstance(one, ast.Name) and one.id not in self._literal:
                    self.names.add(one.id)
        elif isinstance(owner, ast.Name) and any(self.comes_from(one) for one in given):
            # `seen.append(model(x))`, `optimizer.step(loss)`: the owner takes it in.
            self.names.add(owner.id)

    def comes_from(self, node: ast.expr) -> bool:
        """Whether any part of an expression is the project's."""
        for inner in ast.walk(node):
            if isinstance(inner, ast.Name) and inner.id in self.names:
                return True
            if isinstance(inner, ast.Call) and self._bindings.is_project(inner.func):
                return True
            if isinstance(inner, ast.Attribute) and self._bindings.is_project(inner):
                return True
        return isinstance(node, ast.Name) and self._bindings.is_project(node)

    def _bind(self, node: ast.stmt, value: ast.expr) -> None:
        self.visit(value)
        names = set(bound_names(node))
        if self.comes_from(value):
            # `seen["loss"] = model(x)` gives it to `seen`.
            for target in targets_of(node):
                self._take(target)
        elif not isinstance(node, ast.AugAssign):
            self.names -= names
            is_literal = isinstance(value, ast.Constant | ast.UnaryOp)
            self._literal = self._literal | names if is_literal else self._literal - names

    def _take(self, target: ast.expr) -> None:
        self.names |= {inner.id for inner in ast.walk(target) if isinstance(inner, ast.Name)}
