"""Who binds a name: a file, its scopes and their bindings, which refer to one another."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

from reenact.program.syntax.calls import is_name, receiver
from reenact.program.syntax.notebook import Notebook
from reenact.program.syntax.source import LineTable, SourceFile, Span
from reenact.program.syntax.targets import How, bound_by, unpacked

N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")
FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ScopeNode: TypeAlias = ast.Module | ast.ClassDef | FunctionNode | ast.comprehension


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
        """`model = model.to(device)`, `model = DataParallel(model)`: the same thing under the
        same name.
        """
        value = self.value if self.how is How.ASSIGN else None
        parts = (
            [
                receiver(value),
                *value.args[:1],
            ]
            if isinstance(value, ast.Call)
            else []
        )
        return any(is_name(part, self.name) for part in parts)

    @property
    def position(self) -> int | None:
        """Of a parameter: its index among the positional arguments of a call; methods do not count
        their first.
        """
        function = self.holder
        node = self.holder.node
        ordered = (
            [
                *node.args.posonlyargs,
                *node.args.args,
            ]
            if isinstance(node, FunctionNode)
            else []
        )
        if self.node not in ordered:
            return None
        inside = (
            function.parent is not None
            and function.parent.is_class
            and not isinstance(node, ast.Lambda)
        )
        marks = getattr(node, "decorator_list", ())
        number = ordered.index(self.node) - (
            inside and not any(is_name(m, "staticmethod") for m in marks)
        )
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

    def bind(
        self,
        name: str,
        how: How,
        node: ast.AST,
        *value: Any,
        **imported: Any,
    ) -> Binding:
        """Enter a binding; its value and what is picked of it, or what it imports, follow."""
        made = Binding(
            name,
            how,
            node,
            self,
            *value,
            **imported,
        )
        self.bindings.setdefault(name, []).append(made)
        return made

    def chain(self) -> Iterator[Scope]:
        """This scope and those around it, inwards out."""
        scope: Scope | None = self
        while scope is not None:
            yield scope
            scope = scope.parent

    def find(self, name: str) -> list[Binding]:
        """All bindings of a name in the scope that binds it as seen from here; empty when none
        does.
        """
        for scope in self.chain():
            visible = scope is self or not scope.is_class
            if visible and name in scope.bindings and name not in scope.globals:
                return scope.bindings[name]
        return []

    def returned(self) -> list[ast.expr]:
        """The expressions that a function may return."""
        if isinstance(self.node, ast.Lambda):
            return [self.node.body]
        return self.index.returns.get(self, [])

    def enclosing_class(self) -> Scope | None:
        for scope in self.chain():
            if scope.is_class:
                return scope
        return None

    def enclosing_function(self) -> Scope | None:
        for scope in self.chain():
            if scope.is_function:
                return scope
        return None

    def bind_statement(self, node: ast.stmt) -> None:
        """Enter all names that a statement binds in its own self."""
        for target, how, value in bound_by(node):
            self.bind_target(target, how, value, node)
        if isinstance(node, ast.Global):
            self.globals.update(node.names)

    def bind_target(
        self,
        target: ast.expr,
        how: How,
        value: ast.expr | None,
        node: ast.AST,
    ) -> None:
        """Enter the names of a target."""
        for part, way, given, pick in unpacked(target, how, value):
            if isinstance(part, ast.Name):
                holder = [*self.chain()][-1] if part.id in self.globals else self
                holder.bind(part.id, way, node, given, pick)

    def bind_arguments(self, arguments: ast.arguments) -> None:
        """Enter the parameters of a function with their defaults."""
        ordered = [*arguments.posonlyargs, *arguments.args]
        defaults = [
            *[None] * (len(ordered) - len(arguments.defaults)),
            *arguments.defaults,
        ]
        named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
        for argument, default in (
            *zip(ordered, defaults, strict=True),
            *named,
        ):
            self.bind(argument.arg, How.PARAMETER, argument, default)
        for extra in filter(None, (arguments.vararg, arguments.kwarg)):
            self.bind(extra.arg, How.OTHER, extra)

    def bind_import(self, node: ast.Import | ast.ImportFrom) -> list[Binding]:
        """Enter imported names, and return everything that was imported, submodules and stars
        too.
        """
        found = []
        for name in node.names:
            if isinstance(node, ast.Import):
                # `import a.b` binds `a` but imports `a.b`.
                top = name.name.partition(".")[0]
                bound, dotted = (name.asname, name.name) if name.asname else (top, top)
                self.bind(bound, How.IMPORT, node, dotted=dotted)
                found.append(
                    Binding(
                        bound,
                        How.IMPORT,
                        node,
                        self,
                        dotted=name.name,
                    )
                )
            elif name.name == "*":
                star = Binding(
                    "*",
                    How.IMPORT,
                    node,
                    self,
                    dotted=node.module or "",
                    level=node.level,
                )
                self.stars.append(star)
                found.append(star)
            else:
                dotted = f"{node.module}.{name.name}" if node.module else name.name
                bound = name.asname or name.name
                found.append(
                    self.bind(
                        bound,
                        How.IMPORT,
                        node,
                        dotted=dotted,
                        level=node.level,
                    )
                )
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """`base.key = value` or `base["key"] = value`."""

    base: str
    key: str
    value: ast.expr
    node: ast.AST
    """The target, statement or call that stores."""
    pick: tuple[int, ...] = ()


@dataclass(slots=True, eq=False)
class FileIndex:
    """Everything about one file that the readers ask for."""

    source: SourceFile
    text: str
    """The Python text: the file's own, or the joined cells of a notebook."""
    lines: LineTable
    tree: ast.Module
    notebook: Notebook | None = None
    module: Scope = field(init=False)
    nodes: list[ast.AST] = field(default_factory=list)
    """In the order of the text; the scope of each is `scope_of` it."""
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    inner: dict[ast.AST, Scope] = field(default_factory=dict)
    """The scope that a function, class or lambda opens."""
    calls: list[ast.Call] = field(default_factory=list)
    functions: list[Scope] = field(default_factory=list)
    classes: list[Scope] = field(default_factory=list)
    loops: list[ast.For | ast.AsyncFor | ast.While] = field(default_factory=list)
    withs: list[ast.With | ast.AsyncWith] = field(default_factory=list)
    stores: dict[str, list[Store]] = field(default_factory=dict)
    """By key."""
    returns: dict[Scope, list[ast.expr]] = field(default_factory=dict)
    """What each function may return."""
    imports: list[Binding] = field(default_factory=list)
    brackets: dict[ast.AST, object] = field(default_factory=dict)
    """What the editors found between brackets, kept for the next edit of the same text."""
    data_names: set[str] = field(default_factory=set)
    """Strings that look like the name of a YAML or JSON file."""
    derived: dict[object, object] = field(default_factory=dict)
    """What was read off the file once, for all who ask again."""

    @property
    def path(self) -> str:
        return str(self.source.path)

    def span(
        self,
        node: ast.expr | ast.stmt | ast.arg | ast.keyword,
    ) -> Span:
        return self.lines.span(node, self.path)

    def once(self, key: object, read: Callable[[], T]) -> T:
        """What `read` gives; the next time under the same key what it gave."""
        if key not in self.derived:
            self.derived[key] = read()
        return self.derived[key]  # type: ignore[return-value]

    def parts(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """A piece of the file and everything in it, in the order of `ast.walk`, without what all
        trees share.
        """
        return self.once(node, lambda: tuple(_walk(node)))

    def parts_of(
        self,
        node: ast.AST,
        kind: type[N],
    ) -> tuple[N, ...]:
        """Those of one kind."""
        key = (node, kind)
        return self.once(
            key, lambda: tuple(one for one in self.parts(node) if isinstance(one, kind))
        )

    def numbers(
        self,
        holder: ast.Call | ast.List | ast.Tuple,
    ) -> dict[ast.AST, int]:
        """The arguments of a call, or the elements of a list, each with its number."""
        items = holder.args if isinstance(holder, ast.Call) else holder.elts
        return self.once(
            (holder, "numbers"),
            lambda: {one: number for number, one in enumerate(items)},
        )

    def point(self, at: int) -> Span:
        """Between two characters."""
        return Span(at, at, self.path)

    def text_of(self, node: ast.expr | ast.stmt) -> str:
        return self.lines.span(node).cut(self.text)

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that holds a node."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def reads(self, name: str) -> list[ast.Name]:
        """Every place that reads a name."""
        names = (node for node in self.nodes if isinstance(node, ast.Name) and node.id == name)
        return [node for node in names if isinstance(node.ctx, ast.Load)]

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        found = [node]
        while found[-1] in self.parents:
            found.append(self.parents[found[-1]])
        return found[1:]

    def block_of(self, node: ast.AST) -> tuple[ast.AST | None, str]:
        """The statement (or module) whose block holds a node's statement, and which block."""
        statement = self.statement(node) if node in self.parents else node
        parent = self.parents.get(statement)
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and statement in block:
                return parent, name
        return parent, ""


SHARED = (
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
)
"""What all trees share, such as `ast.Load`."""
PLAIN = frozenset(("ctx", "op", "ops", "id", "attr", "kind", "type_comment"))
"""Fields that hold texts, or what all trees share."""


def scope_of(node: ast.AST) -> Scope:
    """The scope that a node of an indexed file is evaluated in."""
    found: Scope = node.scope  # type: ignore[attr-defined]
    return found


def bindings_of(node: ast.AST) -> list[Binding]:
    """What a name may stand for where it is used; empty for any other expression."""
    if not isinstance(node, ast.Name):
        return []
    return scope_of(node).find(node.id)


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


def _walk(node: ast.AST) -> list[ast.AST]:
    found = [node]
    for one in found:
        found += children(one)
    return found
