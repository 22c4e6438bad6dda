"""Who binds a name, and how: scopes, bindings and what a statement binds; the arguments of a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from reenact.program.read.index import FileIndex

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
    holder: Scope
    """The scope that the name is bound in."""
    value: ast.expr | None = None
    """The expression, when there is one; the default of a parameter."""
    pick: tuple[int, ...] = ()
    """Indices into the value, for unpacking."""
    dotted: str = ""
    """Full dotted name of what is imported."""
    level: int = 0
    """Leading dots of a relative import."""

    @property
    def rewraps(self) -> bool:
        """`model = model.to(device)`, `model = DataParallel(model)`: the same thing under the same name."""
        value = self.value if self.how is How.ASSIGN else None
        parts = [receiver(value), *value.args[:1]] if isinstance(value, ast.Call) else []
        return any(is_name(part, self.name) for part in parts)

    @property
    def position(self) -> int | None:
        """Of a parameter: its index among the positional arguments of a call; methods do not count their
        first."""
        function, node = self.holder, self.holder.node
        ordered = [*node.args.posonlyargs, *node.args.args] if isinstance(node, FunctionNode) else []
        if self.node not in ordered:
            return None
        inside = function.parent is not None and function.parent.is_class and not isinstance(node, ast.Lambda)
        marks = getattr(node, "decorator_list", ())
        number = ordered.index(self.node) - (inside and not any(is_name(m, "staticmethod") for m in marks))
        return number if number >= 0 else None


@dataclass(slots=True, eq=False)
class Scope:
    """A module, class, function, lambda or comprehension, and the names bound in it."""

    node: ScopeNode
    name: str
    parent: Scope | None
    index: FileIndex
    bindings: dict[str, list[Binding]] = field(default_factory=dict)
    globals: set[str] = field(default_factory=set)
    stars: list[Binding] = field(default_factory=list)

    @property
    def file(self) -> str:
        return self.index.path

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_function(self) -> bool:
        return isinstance(self.node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)

    def bind(self, name: str, how: How, node: ast.AST, *value: Any, **imported: Any) -> Binding:
        """Enter a binding; its value and what is picked of it, or what it imports, follow."""
        made = Binding(name, how, node, self, *value, **imported)
        self.bindings.setdefault(name, []).append(made)
        return made

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, inwards out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> list[Binding]:
        """All bindings of a name in the scope that binds it as seen from here; empty when none does."""
        for scope in self.chain():
            visible = scope is self or not scope.is_class
            if visible and name in scope.bindings and name not in scope.globals:
                return scope.bindings[name]
        return []

    def returned(self) -> list[ast.expr]:
        """The expressions that a function may return."""
        return [self.node.body] if isinstance(self.node, ast.Lambda) else self.index.returns.get(self, [])

    def enclosing_class(self) -> Scope | None:
        return next((scope for scope in self.chain() if scope.is_class), None)

    def enclosing_function(self) -> Scope | None:
        return next((scope for scope in self.chain() if scope.is_function), None)

    def bind_statement(self, node: ast.stmt) -> None:
        """Enter all names that a statement binds in its own self."""
        for target, how, value in _bound(node):
            self.bind_target(target, how, value, node)
        if isinstance(node, ast.Global):
            self.globals.update(node.names)

    def bind_target(self, target: ast.expr, how: How, value: ast.expr | None, node: ast.AST) -> None:
        """Enter the names of a target."""
        for part, way, given, pick in unpacked(target, how, value):
            if isinstance(part, ast.Name):
                holder = [*self.chain()][-1] if part.id in self.globals else self
                holder.bind(part.id, way, node, given, pick)

    def bind_arguments(self, arguments: ast.arguments) -> None:
        """Enter the parameters of a function with their defaults."""
        ordered = [*arguments.posonlyargs, *arguments.args]
        defaults = [*[None] * (len(ordered) - len(arguments.defaults)), *arguments.defaults]
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for argument, default in (*zip(ordered, defaults, strict=True), *named):
            self.bind(argument.arg, How.PARAMETER, argument, default)
        for extra in filter(None, (arguments.vararg, arguments.kwarg)):
            self.bind(extra.arg, How.OTHER, extra)

    def bind_import(self, node: ast.Import | ast.ImportFrom) -> list[Binding]:
        """Enter imported names, and return everything that was imported, submodules and stars too."""
        found = []
        for name in node.names:
            if isinstance(node, ast.Import):
                # `import a.b` binds `a` but imports `a.b`.
                top = name.name.partition(".")[0]
                bound, dotted = (name.asname, name.name) if name.asname else (top, top)
                self.bind(bound, How.IMPORT, node, dotted=dotted)
                found.append(Binding(bound, How.IMPORT, node, self, dotted=name.name))
            elif name.name == "*":
                star = Binding("*", How.IMPORT, node, self, dotted=node.module or "", level=node.level)
                self.stars.append(star)
                found.append(star)
            else:
                dotted = f"{node.module}.{name.name}" if node.module else name.name
                bound = name.asname or name.name
                found.append(self.bind(bound, How.IMPORT, node, dotted=dotted, level=node.level))
        return found


SHARED = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
"""What all trees share, such as `ast.Load`."""
PLAIN = frozenset(("ctx", "op", "ops", "id", "attr", "kind", "type_comment"))
"""Fields that hold texts, or what all trees share."""


def scope_of(node: ast.AST) -> Scope:
    """The scope that a node of an indexed file is evaluated in."""
    found: Scope = node.scope  # type: ignore[attr-defined]
    return found


def bindings_of(node: ast.AST) -> list[Binding]:
    """What a name may stand for where it is used; empty for any other expression."""
    return scope_of(node).find(node.id) if isinstance(node, ast.Name) else []


def put_in(node: ast.AST, scope: Scope) -> None:
    """Say which scope a node is evaluated in; what all trees share is in none."""
    if not isinstance(node, SHARED):
        node.scope = scope  # type: ignore[attr-defined]


_HOLDERS: dict[type[ast.AST], tuple[str, ...]] = {}


def _holders(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that may hold others."""
    if kind not in _HOLDERS:
        _HOLDERS[kind] = tuple(name for name in kind._fields if name not in PLAIN)
    return _HOLDERS[kind]


def children(node: ast.AST) -> list[ast.AST]:
    """What a node directly consists of, without what all trees share."""
    found: list[ast.AST] = []
    for name in _holders(type(node)):
        value = getattr(node, name, None)
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [one for one in value if isinstance(one, ast.AST)]
    return found


def _bound(node: ast.stmt) -> list[tuple[ast.expr, How, ast.expr | None]]:
    """Targets of a statement, with what they take."""
    if isinstance(node, ast.Assign):
        return [(target, How.ASSIGN, node.value) for target in node.targets]
    if isinstance(node, ast.AnnAssign):
        return [(node.target, How.ASSIGN, node.value)] if node.value is not None else []
    if isinstance(node, ast.AugAssign):
        # `config |= {...}` fills the same object; every other operator makes a new value.
        return [] if isinstance(node.op, ast.BitOr) else [(node.target, How.OTHER, None)]
    if isinstance(node, ast.For | ast.AsyncFor):
        return [(node.target, How.LOOP, node.iter)]
    if isinstance(node, ast.With | ast.AsyncWith):
        return [(i.optional_vars, How.WITH, i.context_expr) for i in node.items if i.optional_vars]
    return [(target, How.OTHER, None) for target in node.targets] if isinstance(node, ast.Delete) else []


Taken: TypeAlias = tuple[How, ast.expr | None, tuple[int, ...]]
"""How a target takes its value, the expression it comes from, and the indices into that."""


def unpacked(
    target: ast.expr, how: How, value: ast.expr | None, pick: tuple[int, ...] = ()
) -> Iterator[tuple[ast.expr, *Taken]]:
    """Every single target in a target; unpacking of a written-out tuple goes to the element itself."""
    if isinstance(target, ast.Starred):
        yield from unpacked(target.value, How.OTHER, None)
    elif isinstance(target, ast.Tuple | ast.List):
        for number, part in enumerate(target.elts):
            yield from unpacked(part, *_element(how, value, pick, number, len(target.elts)))
    else:
        yield target, how, value, pick


def _element(how: How, value: ast.expr | None, pick: tuple[int, ...], number: int, count: int) -> Taken:
    """`for i, x in enumerate(xs)` and `for a, b in zip(xs, ys)` go over the lists themselves."""
    loop = how is How.LOOP and not pick
    if loop and isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        if value.func.id == "enumerate" and value.args:
            return (How.OTHER, None, ()) if number == 0 else (How.LOOP, value.args[0], ())
        if value.func.id == "zip" and number < len(value.args):
            return How.LOOP, value.args[number], ()
    plain = how is not How.LOOP and not pick
    if plain and isinstance(value, ast.Tuple | ast.List) and len(value.elts) == count:
        return how, value.elts[number], ()
    return how, value, (*pick, number)


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """The value of the first of these keywords that is given."""
    given = {part.arg: part.value for part in reversed(call.keywords)}
    return next((given[name] for name in names if name in given), None)


def argument(call: ast.Call, position: int | None, *names: str) -> ast.expr | None:
    """A value given by name, or at a position that no `*args` makes uncertain."""
    found = keyword(call, *names)
    if found is not None or position is None:
        return found
    before = call.args[: position + 1]
    if len(before) <= position or any(isinstance(part, ast.Starred) for part in before):
        return None
    return before[position]


def entries(node: ast.AST | None) -> dict[object, ast.expr]:
    """The entries of a dictionary whose keys are written out; none for anything else."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}


def has_unpacking(call: ast.Call) -> bool:
    """True when `*args` or `**kwargs` may give more than is written."""
    starred = any(isinstance(part, ast.Starred) for part in call.args)
    return starred or any(part.arg is None for part in call.keywords)


def method_name(call: ast.Call) -> str:
    """`fit` of `model.fit(...)`; empty when no attribute is called."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def receiver(call: ast.Call) -> ast.expr | None:
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def super_name(call: ast.Call) -> str:
    """`fit` of `super().fit(...)`; empty for any other call."""
    base = receiver(call)
    return method_name(call) if isinstance(base, ast.Call) and is_name(base.func, "super") else ""


def is_name(node: ast.expr | None, name: str) -> bool:
    """True for just this name."""
    return isinstance(node, ast.Name) and node.id == name
