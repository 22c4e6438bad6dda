"""Which names of a script are the project's, which hold objects of its classes, and what flows out
of it.

The script is read from top to bottom, twice, so that loops carry what they carry. A name is the
project's when its value comes from a call of the project, from an object of the project, or from
another such name.
"""

import ast
from collections import Counter
from dataclasses import dataclass, field

from reenact.bug.codebase import Absent, Class, Codebase, Found, Module, Outside
from reenact.codegen.syntax import (
    Definition,
    bound_names,
    dotted_name,
    imported_names,
    targets_of,
)


@dataclass(frozen=True)
class Instance:
    """An object of a class of the project."""

    of: Class


@dataclass
class Bindings:
    """What the names of one script stand for. A name that is bound twice stands for nothing
    certain.
    """

    project: Codebase
    imported: dict[str, str]
    """Name -> dotted name, also of other libraries."""
    instances: dict[str, Class]
    derived: set[str] = field(default_factory=set)
    """Classes of the script whose base is the project's."""

    def what(self, node: ast.expr) -> Found | Instance | None:
        """What an expression is, as far as the text reports; none when nothing is known."""
        if isinstance(node, ast.Name):
            if node.id in self.imported:
                return self.project.find(self.imported[node.id])
            if node.id in self.instances:
                return Instance(self.instances[node.id])
            return None
        if isinstance(node, ast.Call):
            made = self.what(node.func)
            return Instance(made) if isinstance(made, Class) else None
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        return None

    def dotted(self, node: ast.expr) -> str:
        """The dotted name that an expression spells through imports; empty when it is not one."""
        first, _, rest = dotted_name(node).partition(".")
        before = self.imported.get(first, "")
        if before and rest:
            return f"{before}.{rest}"
        return before

    def is_project(self, node: ast.expr) -> bool:
        """Whether an expression starts at a name of the project."""
        while isinstance(node, ast.Attribute | ast.Call | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name):
            return False
        imported = self.imported.get(node.id, "")
        own = node.id in self.instances or node.id in self.derived
        return own or bool(imported and self.project.owns(imported))

    def _attribute(self, node: ast.Attribute) -> Found | Instance | None:
        base = self.what(node.value)
        if isinstance(base, Instance):
            base = base.of
        if isinstance(base, Module):
            return self.project.member(base, node.attr)
        if isinstance(base, Outside):
            return Outside(f"{base.name}.{node.attr}")
        if isinstance(base, Class):
            return base.methods.get(node.attr)
        return base if isinstance(base, Absent) else None


def bindings_of(tree: ast.Module, project: Codebase) -> Bindings:
    """Read the imports and the plain `name = Class(...)` of a script."""
    imported: dict[str, str] = {}
    bound: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= {one.name: one.target for one in imported_names(node)}
        elif isinstance(node, Definition):
            bound[node.name] += 1
        elif isinstance(node, ast.arg):
            bound[node.arg] += 2
        elif isinstance(node, ast.stmt):
            bound.update(bound_names(node))
    found = Bindings(
        project,
        {name: to for name, to in imported.items() if not bound[name]},
        {},
    )
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and any(found.is_project(base) for base in node.bases):
            found.derived.add(node.name)
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Call)
            and len(node.targets) == 1
        ):
            target = node.targets[0]
            made = found.what(node.value)
            if (
                isinstance(target, ast.Name)
                and bound[target.id] == 1
                and isinstance(made, Instance)
            ):
                found.instances[target.id] = made.of
    return found


def flowing(tree: ast.Module, bindings: Bindings) -> frozenset[str]:
    """The names whose values come out of the project."""
    flow = _Flow(bindings)
    for _ in range(2):
        flow.generic_visit(tree)
    return frozenset(flow.names)


def flowing_lines(text: str, project: Codebase) -> frozenset[int]:
    """Lines of a script whose statements use something that came out of the project."""
    tree = ast.parse(text)
    bindings = bindings_of(tree, project)
    names = flowing(tree, bindings)
    found: set[int] = set()
    for node in (
        one for one in ast.walk(tree) if isinstance(one, ast.stmt) and not hasattr(one, "body")
    ):
        inside = (one for one in ast.walk(node) if isinstance(one, ast.Name))
        if any(one.id in names or bindings.is_project(one) for one in inside):
            found.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return frozenset(found)


class _Flow(ast.NodeVisitor):
    """One reading."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        self._literal = set[str]()
        self.names = set[str]()

    def visit(self, node: ast.AST) -> None:
        if not isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            super().visit(node)
        elif node.value is not None:
            self._bind(node, node.value)

    def visit_For(self, node: ast.For) -> None:
        self._bind(node, node.iter)
        self.generic_visit(
            ast.Module(
                [*node.body, *node.orelse],
                [],
            )
        )

    def visit_With(self, node: ast.With) -> None:
        for item in node.items:
            if item.optional_vars is not None and self.comes_from(item.context_expr):
                self._take(item.optional_vars)
        self.generic_visit(ast.Module(node.body, []))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """A function of the script gives what the project gave it."""
        self.generic_visit(node)
        returned = (
            inner.value for inner in ast.walk(node) if isinstance(inner, ast.Return) and inner.value
        )
        if any(self.comes_from(value) for value in returned):
            self.names.add(node.name)

    def visit_Call(self, node: ast.Call) -> None:
        """Whatever a project call is given may come back changed; a plain constant may not."""
        self.generic_visit(node)
        given = [
            *node.args,
            *(one.value for one in node.keywords),
        ]
        owner = None
        if isinstance(node.func, ast.Attribute):
            owner = node.func.value
        if self.comes_from(node.func):
            self.names |= {one.id for one in given if isinstance(one, ast.Name)} - self._literal
        elif isinstance(owner, ast.Name) and any(self.comes_from(one) for one in given):
            # `seen.append(model(x))`, `optimizer.step(loss)`: the owner takes it in.
            self.names.add(owner.id)

    def comes_from(self, node: ast.expr) -> bool:
        """Whether any part of an expression is the project's."""
        for inner in ast.walk(node):
            used = isinstance(inner, ast.Call | ast.Attribute) and self._bindings.is_project(inner)
            if used or (isinstance(inner, ast.Name) and inner.id in self.names):
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
