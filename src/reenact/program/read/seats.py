"""Where a layer sits: in a list, under an attribute, applied to a tensor; and the path that gives it."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from enum import Enum, auto

from reenact.program.read.calls import method_name, receiver
from reenact.program.read.index import FileIndex, dotted_text
from reenact.program.read.scope import Scope
from reenact.program.read.sources import Sources

SEQUENTIAL = frozenset(("torch.nn.Sequential", "keras.models.Sequential"))
LISTS = frozenset(("torch.nn.ModuleList", "torch.nn.ModuleDict"))
ORDERED = frozenset(("collections.OrderedDict", "typing.OrderedDict"))


class Sitting(Enum):
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
class Seat:
    """The place of a layer in the program's own structure."""

    sitting: Sitting
    model: str
    path: str
    container: ast.AST | None = None
    """The Sequential call, the list, or the statement that holds it directly."""
    top: ast.Call | None = None
    """The outermost Sequential call around it."""


class _Climb:
    """The way up from a constructor call, and what was learned on it."""

    def __init__(self, sources: Sources, index: FileIndex, scope: Scope) -> None:
        self.sources, self.index, self.scope = sources, index, scope
        self.parts: list[str] = []
        self.sitting: Sitting | None = None
        self.container: ast.AST | None = None
        self.top: ast.Call | None = None

    def step(self, parent: ast.AST, node: ast.AST) -> bool:
        """Look at one ancestor; false when the climb ends there."""
        if isinstance(parent, ast.Call):
            return self._call(parent, node)
        if isinstance(parent, ast.Tuple) and _pair_name(parent, node):
            self._sit(Sitting.NAMED, parent, _pair_name(parent, node))
        elif isinstance(parent, ast.List | ast.Tuple) and _is_counted(
            self.sources, self.index, parent, self.scope
        ):
            self._sit(Sitting.ELEMENT, parent, str(parent.elts.index(node)) if node in parent.elts else "")
        elif isinstance(parent, ast.List):
            self._sit(Sitting.ELEMENT, parent, "")
        return True

    def _call(self, parent: ast.Call, node: ast.AST) -> bool:
        here, parts, go_on = _call_step(self.sources, parent, node, self.scope)
        self._sit(here, parent, *parts)
        if self.sources.dotted(parent.func, self.scope) in SEQUENTIAL:
            self.top = parent
        return go_on

    def _sit(self, sitting: Sitting, container: ast.AST, *parts: str) -> None:
        if self.sitting is None:
            self.sitting, self.container = sitting, container
        self.parts += parts


def find_seat(sources: Sources, index: FileIndex, call: ast.Call, scope: Scope) -> Seat:
    """Walk up from the constructor call until the construction that names it."""
    climb = _Climb(sources, index, scope)
    node: ast.AST = call
    for _ in range(40):
        parent = index.parents.get(node)
        if parent is None or isinstance(parent, ast.stmt):
            break
        go_on = climb.step(parent, node)
        node = parent
        if not go_on:
            break
    return _finish(climb, node)


def _finish(climb: _Climb, node: ast.AST) -> Seat:
    statement = climb.index.statement(node)
    owner = climb.scope.enclosing_class()
    name, kind = _target(statement)
    parts, sitting = climb.parts, climb.sitting
    model = owner.name if owner is not None else ""
    if kind is Sitting.ATTRIBUTE:
        parts.append(name)
    elif kind is Sitting.ADD or climb.top is not None or sitting is Sitting.APPEND:
        model = model or (name if kind in (Sitting.VARIABLE, Sitting.ADD) else "")
    elif kind is Sitting.VARIABLE and sitting is None:
        parts.append(name)
    model = model or _function_name(climb.scope)
    path = ".".join(part for part in reversed(parts) if part)
    return Seat(sitting or kind, model, path, climb.container or statement, climb.top)


def _call_step(
    sources: Sources, parent: ast.Call, node: ast.AST, scope: Scope
) -> tuple[Sitting, list[str], bool]:
    """What a call around a layer says about it: its sitting, a part of its path, whether to go on upwards."""
    if parent.func is node:
        return Sitting.APPLIED, [], False
    name = method_name(parent)
    if name == "add" and len(parent.args) == 1:
        return Sitting.ADD, [], False
    if name in ("append", "extend", "insert"):
        return Sitting.APPEND, [], False
    if name == "add_module" and len(parent.args) == 2 and isinstance(parent.args[0], ast.Constant):
        return Sitting.NAMED, [str(parent.args[0].value)], False
    dotted = sources.dotted(parent.func, scope)
    if dotted == "torch.nn.Sequential" and node in parent.args:
        single = isinstance(node, ast.Call) and sources.dotted(node.func, scope) in ORDERED
        position = parent.args.index(node)
        known = not any(isinstance(part, ast.Starred) for part in parent.args[:position])
        return Sitting.ELEMENT, [] if single or not known else [str(position)], True
    if dotted in SEQUENTIAL or dotted in LISTS or dotted in ORDERED:
        given = next((part.arg for part in parent.keywords if part.value is node and part.arg), None)
        named = dotted in ORDERED and given is not None
        return Sitting.NAMED if named else Sitting.ELEMENT, [given] if named and given else [], True
    return Sitting.INNER, [], not isinstance(sources.meaning(parent.func, scope), Scope)


def _is_counted(sources: Sources, index: FileIndex, node: ast.List | ast.Tuple, scope: Scope) -> bool:
    """Lists given to ModuleList count their layers; the list of a Keras Sequential names layers by type."""
    parent = index.parents.get(node)
    return isinstance(parent, ast.Call) and sources.dotted(parent.func, scope) == "torch.nn.ModuleList"


def _pair_name(node: ast.Tuple, child: ast.AST) -> str:
    """`("name", layer)` of an OrderedDict."""
    if len(node.elts) == 2 and node.elts[1] is child and isinstance(node.elts[0], ast.Constant):
        return str(node.elts[0].value) if isinstance(node.elts[0].value, str) else ""
    return ""


def _target(statement: ast.stmt) -> tuple[str, Sitting]:
    """The name that a statement gives to what it makes."""
    if isinstance(statement, ast.Assign | ast.AnnAssign):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
        if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
            return target.attr, Sitting.ATTRIBUTE
        if isinstance(target, ast.Name):
            return target.id, Sitting.VARIABLE
    if isinstance(statement, ast.AugAssign):
        return dotted_text(statement.target), Sitting.APPEND
    if isinstance(statement, ast.Return):
        return "", Sitting.RETURNED
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        base = receiver(statement.value)
        if base is not None and method_name(statement.value) in ("add", "append", "add_module", "extend"):
            text = dotted_text(base)
            if text.startswith("self."):
                return text[5:], Sitting.ATTRIBUTE
            kind = Sitting.APPEND if method_name(statement.value) in ("append", "extend") else Sitting.ADD
            return text, kind
    return "", Sitting.INNER


def _function_name(scope: Scope) -> str:
    function = scope.enclosing_function()
    while function is not None and not function.name:
        function = function.parent.enclosing_function() if function.parent is not None else None
    return function.name if function is not None else ""
