"""Where a layer stands: in a list, under an attribute, applied to a tensor; and the elements of a Sequential
or ModuleList in their order, through lists that are filled step by step."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from reenact.program.read.functions import is_name
from reenact.program.read.index import FileIndex, dotted_text
from reenact.program.read.scope import Scope, method_name, receiver
from reenact.program.read.sources import Sources

SEQUENTIAL = frozenset(("torch.nn.Sequential", "keras.models.Sequential"))
LISTS = frozenset(("torch.nn.ModuleList", "torch.nn.ModuleDict"))
ORDERED = frozenset(("collections.OrderedDict", "typing.OrderedDict"))


class ContainerKind(Enum):
    """In which construction a layer stands."""

    ELEMENT = auto()
    """Argument or list element of a Sequential or ModuleList."""
    NAMED = auto()
    """Entry of an OrderedDict, a ModuleDict, or `add_module`."""
    ADD = auto()
    """`model.add(layer)` as a statement of its own."""
    APPEND = auto()
    """`layers.append(layer)` or `layers += [layer]`."""
    ATTRIBUTE = auto()
    """`self.name = layer`."""
    VARIABLE = auto()
    APPLIED = auto()
    """`layer(...)(x)`, the functional way."""
    INNER = auto()
    """Argument of a wrapper or of a function of the program."""
    RETURNED = auto()


@dataclass(frozen=True, slots=True, eq=False)
class LayerPosition:
    """The place of a layer in the program's own structure."""

    kind: ContainerKind
    model: str
    path: str
    container: ast.AST | None = None
    """The Sequential call, the list, or the statement that holds it directly."""
    top: ast.Call | None = None
    """The outermost Sequential call around it."""


def find_position(sources: Sources, index: FileIndex, call: ast.Call, scope: Scope) -> LayerPosition:
    """Walk up from the constructor call until the construction that names it."""
    parts: list[str] = []
    kind: ContainerKind | None = None
    container: ast.AST | None = None
    top: ast.Call | None = None
    node: ast.AST = call
    go_on = True
    while go_on and not isinstance(index.parents.get(node), ast.stmt | None):
        parent = index.parents[node]
        here, more, go_on = _step(sources, index, parent, node, scope)
        if kind is None and here is not None:
            kind, container = here, parent
        if isinstance(parent, ast.Call) and sources.dotted(parent.func, scope) in SEQUENTIAL:
            top = parent
        parts += more
        node = parent
    statement = index.statement(node)
    owner = scope.enclosing_class()
    name, target = _target(statement)
    model = owner.name if owner is not None else ""
    if target is ContainerKind.ATTRIBUTE:
        parts.append(name)
    elif target is ContainerKind.ADD or top is not None or kind is ContainerKind.APPEND:
        model = model or (name if target in (ContainerKind.VARIABLE, ContainerKind.ADD) else "")
    elif target is ContainerKind.VARIABLE and kind is None:
        parts.append(name)
    model = model or next((one.name for one in scope.chain() if one.is_function and one.name), "")
    path = ".".join(part for part in reversed(parts) if part)
    return LayerPosition(kind or target, model, path, container or statement, top)


Step: TypeAlias = tuple[ContainerKind | None, list[str], bool]
"""What an ancestor of a layer says about it: its kind, a part of its path, whether to go on upwards."""


def _step(sources: Sources, index: FileIndex, parent: ast.AST, node: ast.AST, scope: Scope) -> Step:
    if isinstance(parent, ast.Call):
        return _call_step(sources, parent, node, scope)
    if isinstance(parent, ast.Tuple) and _pair_name(parent, node):
        return ContainerKind.NAMED, [_pair_name(parent, node)], True
    if isinstance(parent, ast.List | ast.Tuple) and node in parent.elts:
        around = index.parents.get(parent)
        # Lists given to ModuleList count their layers; the list of a Keras Sequential names layers by type.
        if isinstance(around, ast.Call) and sources.dotted(around.func, scope) == "torch.nn.ModuleList":
            return ContainerKind.ELEMENT, [str(parent.elts.index(node))], True
    return (ContainerKind.ELEMENT if isinstance(parent, ast.List) else None), [], True


def _call_step(sources: Sources, parent: ast.Call, node: ast.AST, scope: Scope) -> Step:
    if parent.func is node:
        return ContainerKind.APPLIED, [], False
    name = method_name(parent)
    if name == "add" and len(parent.args) == 1:
        return ContainerKind.ADD, [], False
    if name in ("append", "extend", "insert"):
        return ContainerKind.APPEND, [], False
    if name == "add_module" and len(parent.args) == 2 and isinstance(parent.args[0], ast.Constant):
        return ContainerKind.NAMED, [str(parent.args[0].value)], False
    dotted = sources.dotted(parent.func, scope)
    if dotted == "torch.nn.Sequential" and node in parent.args:
        single = isinstance(node, ast.Call) and sources.dotted(node.func, scope) in ORDERED
        position = parent.args.index(node)
        known = not any(isinstance(part, ast.Starred) for part in parent.args[:position])
        return ContainerKind.ELEMENT, [] if single or not known else [str(position)], True
    if dotted in SEQUENTIAL or dotted in LISTS or dotted in ORDERED:
        given = next((part.arg for part in parent.keywords if part.value is node and part.arg), None)
        named = dotted in ORDERED and given is not None
        return (
            ContainerKind.NAMED if named else ContainerKind.ELEMENT,
            [given] if named and given else [],
            True,
        )
    return ContainerKind.INNER, [], not isinstance(sources.meaning(parent.func, scope), Scope)


def _pair_name(node: ast.Tuple, child: ast.AST) -> str:
    """`("name", layer)` of an OrderedDict."""
    if len(node.elts) == 2 and node.elts[1] is child and isinstance(node.elts[0], ast.Constant):
        return str(node.elts[0].value) if isinstance(node.elts[0].value, str) else ""
    return ""


def _target(statement: ast.stmt) -> tuple[str, ContainerKind]:
    """The name that a statement gives to what it makes."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            return target.attr, ContainerKind.ATTRIBUTE
        if isinstance(target, ast.Name):
            return target.id, ContainerKind.VARIABLE
    if isinstance(statement, ast.AugAssign):
        return dotted_text(statement.target), ContainerKind.APPEND
    if isinstance(statement, ast.Return):
        return "", ContainerKind.RETURNED
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        base = receiver(statement.value)
        if base is not None and method_name(statement.value) in ("add", "append", "add_module", "extend"):
            text = dotted_text(base)
            if text.startswith("self."):
                return text[5:], ContainerKind.ATTRIBUTE
            kind = (
                ContainerKind.APPEND
                if method_name(statement.value) in ("append", "extend")
                else ContainerKind.ADD
            )
            return text, kind
    return "", ContainerKind.INNER


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
        and is_name(receiver(call), name)
        and holder in index.scopes[call].chain()
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
