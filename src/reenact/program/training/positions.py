"""Where a layer is: in a list, under an attribute, applied to a tensor; and the elements of a
Sequential or ModuleList in their order, through lists that are filled step by step.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from reenact.program.flow.constants import constant_of
from reenact.program.flow.sources import Sources
from reenact.program.syntax.calls import is_name, method_name, receiver
from reenact.program.syntax.index import dotted_text
from reenact.program.syntax.scope import Scope, bindings_of, scope_of

SEQUENTIAL = frozenset(("torch.nn.Sequential", "keras.models.Sequential"))
LISTS = frozenset(("torch.nn.ModuleList", "torch.nn.ModuleDict"))
ORDERED = frozenset(("collections.OrderedDict", "typing.OrderedDict"))


class ContainerKind(Enum):
    """In which construction a layer is."""

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

    top: ast.Call | None = None
    """The outermost Sequential call around it."""


def find_position(sources: Sources, call: ast.Call) -> LayerPosition:
    """Walk up from the constructor call until the construction that names it."""
    parts: list[str] = []
    kind: ContainerKind | None = None
    top: ast.Call | None = None
    node: ast.AST = call
    scope = scope_of(call)
    index = scope_of(call).index
    go_on = True
    while go_on and not isinstance(index.parents.get(node), ast.stmt | None):
        parent = index.parents[node]
        here, more, go_on = _step(sources, parent, node)
        kind = kind or here
        if isinstance(parent, ast.Call) and sources.dotted(parent.func) in SEQUENTIAL:
            top = parent
        parts += more
        node = parent
    owner = scope.enclosing_class()
    name, target = _target(index.statement(node))
    model = owner.name if owner is not None else ""
    if target is ContainerKind.ATTRIBUTE:
        parts.append(name)
    elif target is ContainerKind.ADD or top is not None or kind is ContainerKind.APPEND:
        if not model and target in (ContainerKind.VARIABLE, ContainerKind.ADD):
            model = name
    elif target is ContainerKind.VARIABLE and kind is None:
        parts.append(name)
    functions = [one.name for one in scope.chain() if one.is_function and one.name]
    if not model and functions:
        model = functions[0]
    return LayerPosition(
        kind or target,
        model,
        ".".join(filter(None, reversed(parts))),
        top,
    )


Step: TypeAlias = tuple[ContainerKind | None, list[str], bool]
"""What an ancestor of a layer says about it: its kind, a part of its path, whether to go on
upwards.
"""


def _step(sources: Sources, parent: ast.AST, node: ast.AST) -> Step:
    if isinstance(parent, ast.Call):
        return _call_step(sources, parent, node)
    if isinstance(parent, ast.Tuple) and len(parent.elts) == 2 and parent.elts[1] is node:
        # `("name", layer)` of an OrderedDict.
        key = constant_of(parent.elts[0])
        if key is not None and key.value and isinstance(key.value, str):
            return ContainerKind.NAMED, [key.value], True
    if isinstance(parent, ast.List | ast.Tuple):
        index = scope_of(parent).index
        around = index.parents.get(parent)
        number = index.numbers(parent).get(node)
        # Lists given to ModuleList count their layers; the list of a Keras Sequential names layers
        # by type.
        counted = (
            isinstance(around, ast.Call) and sources.dotted(around.func) == "torch.nn.ModuleList"
        )
        if counted and number is not None:
            return ContainerKind.ELEMENT, [str(number)], True
    return (ContainerKind.ELEMENT if isinstance(parent, ast.List) else None), [], True


def _call_step(sources: Sources, parent: ast.Call, node: ast.AST) -> Step:
    name = method_name(parent)
    dotted = sources.dotted(parent.func)
    if parent.func is node:
        return ContainerKind.APPLIED, [], False
    if name == "add" and len(parent.args) == 1:
        return ContainerKind.ADD, [], False
    if name in ("append", "extend", "insert"):
        return ContainerKind.APPEND, [], False
    if name == "add_module" and len(parent.args) == 2:
        key = constant_of(parent.args[0])
        if key is not None:
            return ContainerKind.NAMED, [str(key.value)], False
    index = scope_of(parent).index
    number = index.numbers(parent).get(node)
    if dotted == "torch.nn.Sequential" and number is not None:
        single = isinstance(node, ast.Call) and sources.dotted(node.func) in ORDERED
        stars = (at for one, at in index.numbers(parent).items() if isinstance(one, ast.Starred))
        unsure = single or number > index.once(
            (parent, "star"), lambda: next(stars, len(parent.args))
        )
        return ContainerKind.ELEMENT, [] if unsure else [str(number)], True
    if dotted in SEQUENTIAL | LISTS | ORDERED:
        keywords = parent.keywords if dotted in ORDERED else []
        given = [part.arg for part in keywords if part.value is node and part.arg]
        return ContainerKind.NAMED if given else ContainerKind.ELEMENT, [*given], True
    return ContainerKind.INNER, [], not isinstance(sources.meaning(parent.func), Scope)


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
        method = method_name(statement.value)
        if base is not None and method in ("add", "append", "add_module", "extend"):
            text = dotted_text(base)
            if text.startswith("self."):
                return text[5:], ContainerKind.ATTRIBUTE
            return text, ContainerKind.APPEND if method in (
                "append",
                "extend",
            ) else ContainerKind.ADD
    return "", ContainerKind.INNER


def elements(sources: Sources, call: ast.Call) -> list[ast.expr]:
    """What a container is given, element by element; something unknown stays a starred
    expression.
    """
    found: list[ast.expr] = []
    for part in call.args:
        if isinstance(part, ast.Starred):
            found += _listed(part.value) or [part]
        elif isinstance(part, ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp):
            found += _listed(part)
        elif isinstance(part, ast.Call) and sources.dotted(part.func) in ORDERED:
            # `OrderedDict([("name", layer), ...])` or `OrderedDict(name=layer)`.
            found += [given.value for given in part.keywords if given.arg]
            for pair in getattr(part.args[0], "elts", ()) if part.args else ():
                if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
                    found.append(pair.elts[1])
        elif isinstance(part, ast.Name) and len(call.args) == 1:
            found += _listed(part) or [part]
        else:
            found.append(part)
    return found + list(_added(call))


def _listed(
    node: ast.expr,
    seen: frozenset[str] = frozenset(),
) -> list[ast.expr]:
    if isinstance(node, ast.List | ast.Tuple):
        found: list[ast.expr] = []
        for part in node.elts:
            found += _listed(part.value, seen) if isinstance(part, ast.Starred) else [part]
        return found
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        return [node.elt]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _listed(node.left, seen) + _listed(node.right, seen)
    if isinstance(node, ast.Name) and node.id not in seen:
        return list(_filled(node, seen | {node.id}))
    return []


def _filled(
    name: ast.Name,
    seen: frozenset[str],
) -> Iterator[ast.expr]:
    """A list made by assignment, `+=`, append, extend; in the order of the text."""
    bindings = bindings_of(name)
    holder = bindings[0].holder if bindings else scope_of(name)
    filling = [call for call in holder.index.calls if method_name(call) in ("append", "extend")]
    own = [call for call in filling if is_name(receiver(call), name.id)]
    nodes = [binding.node for binding in bindings]
    for call in own:
        if holder in scope_of(call).chain():
            nodes.append(call)
    for node in sorted(
        nodes,
        key=lambda part: (
            getattr(part, "lineno", 0),
            getattr(part, "col_offset", 0),
        ),
    ):
        if isinstance(node, ast.Call):
            listed = method_name(node) == "extend"
            for part in node.args:
                yield from _listed(part, seen) if listed else [part]
        elif (
            isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value is not None
        ):
            yield from (_listed(node.value, seen) if not isinstance(node.value, ast.Name) else ())


def _added(call: ast.Call) -> Iterator[ast.expr]:
    """`model.add(layer)` and `model.add_module("name", layer)` after `model = Sequential()`."""
    scope = scope_of(call)
    statement = scope.index.statement(call)
    made = isinstance(statement, ast.Assign) and statement.value is call
    name = dotted_text(statement.targets[0]) if isinstance(statement, ast.Assign) and made else ""
    named = [other for other in scope.index.calls if name and dotted_text(receiver(other)) == name]
    for other in [other for other in named if scope_of(other) is scope]:
        if method_name(other) == "add" and len(other.args) == 1:
            yield other.args[0]
        elif method_name(other) in ("add_module", "append") and other.args:
            yield other.args[-1]
