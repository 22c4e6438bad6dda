"""Which names of a script are the project's, and which hold objects of its classes."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass, field

from reenact.bug.project.classes import Shape, shape_of
from reenact.bug.project.lookup import Absent, Found, Outside, Project
from reenact.bug.project.module import Class, Module, bound_names


@dataclass(frozen=True)
class Instance:
    """An object of a class of the project."""

    shape: Shape


@dataclass
class Bindings:
    """What the names of one script stand for. A name that is bound twice stands for nothing certain."""

    project: Project
    imported: dict[str, str]
    """Name -> dotted name, also of other libraries."""
    instances: dict[str, Shape]
    derived: set[str] = field(default_factory=set)
    """Classes of the script whose base is the project's."""

    def what(self, node: ast.expr) -> Found | Instance | None:
        """What an expression is, as far as the text tells; none when nothing is known."""
        if isinstance(node, ast.Name):
            if node.id in self.imported:
                return self.project.find(self.imported[node.id])
            return Instance(self.instances[node.id]) if node.id in self.instances else None
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Call):
            made = self.what(node.func)
            return Instance(shape_of(self.project, made)) if isinstance(made, Class) else None
        return None

    def dotted(self, node: ast.expr) -> str:
        """The dotted name that an expression spells through imports; empty when it is none."""
        if isinstance(node, ast.Name):
            return self.imported.get(node.id, "")
        if isinstance(node, ast.Attribute):
            before = self.dotted(node.value)
            return f"{before}.{node.attr}" if before else ""
        return ""

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
        if isinstance(base, Module):
            return self.project.member(base, node.attr)
        if isinstance(base, Outside):
            return Outside(f"{base.name}.{node.attr}")
        if isinstance(base, Instance):
            return base.shape.method(node.attr)
        if isinstance(base, Class):
            return shape_of(self.project, base).method(node.attr)
        return base if isinstance(base, Absent) else None


def bindings_of(tree: ast.Module, project: Project) -> Bindings:
    """Read the imports and the plain `name = Class(...)` of a script."""
    imported: dict[str, str] = {}
    bound: Counter[str] = Counter()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imported |= _imports_of(node)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            bound[node.name] += 1
        elif isinstance(node, ast.arg):
            bound[node.arg] += 2
        elif isinstance(node, ast.stmt):
            bound.update(bound_names(node))
    found = Bindings(project, {name: to for name, to in imported.items() if not bound[name]}, {})
    for node in ast.walk(tree):
        _learn(found, node, bound)
    return found


def _imports_of(node: ast.Import | ast.ImportFrom) -> dict[str, str]:
    """Name -> dotted name. A relative import means nothing in a script."""
    if isinstance(node, ast.ImportFrom):
        known = node.module and not node.level
        return {one.asname or one.name: f"{node.module}.{one.name}" for one in node.names} if known else {}
    firsts = {one.name.partition(".")[0]: one.name.partition(".")[0] for one in node.names if not one.asname}
    return firsts | {one.asname: one.name for one in node.names if one.asname}


def _learn(found: Bindings, node: ast.AST, bound: Counter[str]) -> None:
    """A class derived from the project's, or an object of one."""
    if isinstance(node, ast.ClassDef) and any(found.is_project(base) for base in node.bases):
        found.derived.add(node.name)
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call) or len(node.targets) > 1:
        return
    target, made = node.targets[0], found.what(node.value)
    if isinstance(target, ast.Name) and bound[target.id] == 1 and isinstance(made, Instance):
        found.instances[target.id] = made.shape
