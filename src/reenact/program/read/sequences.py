"""The elements of a Sequential or ModuleList in their order, through lists that are filled step by step."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from reenact.program.read.calls import method_name, receiver
from reenact.program.read.index import FileIndex, dotted_text
from reenact.program.read.scope import Scope
from reenact.program.read.seats import ORDERED
from reenact.program.read.sources import Sources


def elements(sources: Sources, call: ast.Call, scope: Scope) -> list[tuple[ast.expr, Scope]]:
    """What a container is given, element by element; something unknown stays a starred expression."""
    found: list[tuple[ast.expr, Scope]] = []
    for part in call.args:
        if isinstance(part, ast.Starred):
            found += _listed(sources, part.value, scope) or [(part, scope)]
        elif isinstance(part, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp):
            found += _listed(sources, part, scope)
        elif isinstance(part, ast.Call) and sources.dotted(part.func, scope) in ORDERED:
            found += _ordered(part, scope)
        elif isinstance(part, ast.Name) and len(call.args) == 1:
            found += _listed(sources, part, scope) or [(part, scope)]
        else:
            found.append((part, scope))
    index = sources.index(scope)
    return found + list(_added(index, call, scope))


def _ordered(call: ast.Call, scope: Scope) -> list[tuple[ast.expr, Scope]]:
    """`OrderedDict([("name", layer), ...])` or `OrderedDict(name=layer)`."""
    found: list[tuple[ast.expr, Scope]] = [(part.value, scope) for part in call.keywords if part.arg]
    for part in call.args[:1]:
        if isinstance(part, ast.List | ast.Tuple):
            found += [
                (pair.elts[1], scope)
                for pair in part.elts
                if isinstance(pair, ast.Tuple) and len(pair.elts) == 2
            ]
    return found


def _listed(
    sources: Sources, node: ast.expr, scope: Scope, seen: frozenset[str] = frozenset()
) -> list[tuple[ast.expr, Scope]]:
    if isinstance(node, ast.List | ast.Tuple):
        found: list[tuple[ast.expr, Scope]] = []
        for part in node.elts:
            found += (
                _listed(sources, part.value, scope, seen)
                if isinstance(part, ast.Starred)
                else [(part, scope)]
            )
        return found
    index = sources.index(scope)
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return [(node.elt, index.scopes.get(node.elt, scope))]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _listed(sources, node.left, scope, seen) + _listed(sources, node.right, scope, seen)
    if isinstance(node, ast.Name) and node.id not in seen:
        return list(_filled(sources, index, node.id, scope, seen | {node.id}))
    return []


def _filled(
    sources: Sources, index: FileIndex, name: str, scope: Scope, seen: frozenset[str]
) -> Iterator[tuple[ast.expr, Scope]]:
    """A list made by assignment, `+=`, append, extend; in the order of the text."""
    found = scope.find(name)
    holder = found[0] if found is not None else scope
    nodes = [binding.node for binding in (found[1] if found is not None else ())]
    nodes += [
        call
        for call in index.calls
        if method_name(call) in ("append", "extend")
        and _is_name(receiver(call), name)
        and _within(index, call, holder)
    ]
    for node in sorted(nodes, key=lambda part: (getattr(part, "lineno", 0), getattr(part, "col_offset", 0))):
        where = index.scopes.get(node, scope)
        if isinstance(node, ast.Call):
            listed = method_name(node) == "extend"
            for part in node.args:
                yield from _listed(sources, part, where, seen) if listed else [(part, where)]
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            plain = node.value is None or isinstance(node.value, ast.Name)
            yield from [] if plain or node.value is None else _listed(sources, node.value, where, seen)


def _added(index: FileIndex, call: ast.Call, scope: Scope) -> Iterator[tuple[ast.expr, Scope]]:
    """`model.add(layer)` and `model.add_module("name", layer)` after `model = Sequential()`."""
    statement = index.statement(call)
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    name = dotted_text(target) if target is not None else ""
    if not name or not isinstance(statement, ast.Assign) or statement.value is not call:
        return
    for other in index.calls:
        base = receiver(other)
        if base is None or dotted_text(base) != name or index.scopes[other] is not scope:
            continue
        if method_name(other) == "add" and len(other.args) == 1:
            yield other.args[0], scope
        elif method_name(other) in ("add_module", "append") and other.args:
            yield other.args[-1], scope


def _is_name(node: ast.expr | None, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _within(index: FileIndex, call: ast.Call, holder: Scope) -> bool:
    scope: Scope | None = index.scopes[call]
    while scope is not None:
        if scope is holder:
            return True
        scope = scope.parent
    return False
