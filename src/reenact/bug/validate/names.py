"""Names, attributes and arguments that the script uses exist in the project as it is."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Sequence

from reenact.bug.project.classes import construction, misfits, shape_of, signature_of
from reenact.bug.project.lookup import Absent, Class, Function
from reenact.bug.validate.bindings import Bindings, Instance
from reenact.bug.validate.stage import Stage
from reenact.codegen.problem import Problem

SHOWN = 12


def misnamed(tree: ast.Module, bindings: Bindings) -> tuple[Problem, ...]:
    """Everything that the project does not have."""
    found = [*_imports(tree, bindings)]
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            found += _attribute(node, bindings)
        elif isinstance(node, ast.Call):
            found += _call(node, bindings)
    return tuple(dict.fromkeys(found))


def _imports(tree: ast.Module, bindings: Bindings) -> Iterator[Problem]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        wanted: list[str] = []
        if isinstance(node, ast.Import):
            wanted = [one.name for one in node.names]
        elif node.module and not node.level:
            wanted = [node.module]
            wanted += [f"{node.module}.{one.name}" for one in node.names if one.name != "*"]
        for dotted in wanted:
            absent = bindings.project.find(dotted)
            if isinstance(absent, Absent):
                yield _absent(absent, node)
                break


def _attribute(node: ast.Attribute, bindings: Bindings) -> Iterator[Problem]:
    base = bindings.what(node.value)
    found = bindings.what(node)
    if isinstance(found, Absent) and not isinstance(base, Absent):
        yield _absent(found, node)
    if isinstance(base, Instance) and isinstance(node.ctx, ast.Load) and not base.shape.has(node.attr):
        name = base.shape.own.name
        has = _nearest(node.attr, sorted(base.shape.attributes))
        yield Problem(Stage.STATIC, f"`{name}` has no attribute `{node.attr}`. {has}", line=node.lineno)


def _call(node: ast.Call, bindings: Bindings) -> Iterator[Problem]:
    called = bindings.what(node.func)
    name = ast.unparse(node.func)
    signature = None
    if isinstance(called, Class):
        signature = construction(shape_of(bindings.project, called))
    elif isinstance(called, Instance) and called.shape.called is not None:
        signature = signature_of(called.shape.called, bound=True)
    elif isinstance(called, Function):
        signature = signature_of(called, bound=_bound(node.func, bindings))
    if signature is not None:
        yield from (Problem(Stage.STATIC, one, line=node.lineno) for one in misfits(node, signature, name))


def _bound(function: ast.expr, bindings: Bindings) -> bool:
    """Whether a function is called as a method of an object (or a class method of its class)."""
    if not isinstance(function, ast.Attribute):
        return False
    base = bindings.what(function.value)
    if not isinstance(base, Class):
        return isinstance(base, Instance)
    method = shape_of(bindings.project, base).method(function.attr)
    return method is not None and any("classmethod" in ast.unparse(one) for one in method.node.decorator_list)


def _absent(absent: Absent, node: ast.stmt | ast.expr) -> Problem:
    where = f"`{absent.module}`" if absent.module else "the project"
    has = _nearest(absent.name, absent.known)
    return Problem(Stage.STATIC, f"There is no `{absent.name}` in {where}. {has}", line=node.lineno)


def _nearest(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5) or list(known[:SHOWN])
    return f"It has: {', '.join(near)}." if near else ""
