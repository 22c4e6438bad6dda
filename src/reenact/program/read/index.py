"""One pass over one file: scopes, bindings, calls, stores, loops, parents. Iterative, so no source is too
deep."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, TypeVar

from reenact.program.datafile import named_config
from reenact.program.notebook import BadNotebook, Notebook, read_notebook
from reenact.program.read.scope import (
    Binding,
    FunctionNode,
    How,
    Scope,
    children,
    entries,
    put_in,
    scope_of,
    unpacked,
)
from reenact.program.source import Language, LineTable, SourceFile, Span, Unparsable, parse

MAX_ELEMENTS = 256
DATA_SUFFIXES = (".yaml", ".yml", ".json")
N = TypeVar("N", bound=ast.AST)
T = TypeVar("T")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
ROWS = (ast.List, ast.Tuple, ast.Set)


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

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> Span:
        return self.lines.span(node, self.path)

    def once(self, key: object, read: Callable[[], T]) -> T:
        """What `read` gives; the next time under the same key what it gave."""
        if key not in self.derived:
            self.derived[key] = read()
        return self.derived[key]  # type: ignore[return-value]

    def parts(self, node: ast.AST) -> tuple[ast.AST, ...]:
        """A piece of the file and everything in it, in the order of `ast.walk`, without what all trees
        share."""
        return self.once(node, lambda: tuple(_walk(node)))

    def parts_of(self, node: ast.AST, kind: type[N]) -> tuple[N, ...]:
        """Those of one kind."""
        key = (node, kind)
        return self.once(key, lambda: tuple(one for one in self.parts(node) if isinstance(one, kind)))

    def numbers(self, holder: ast.Call | ast.List | ast.Tuple) -> dict[ast.AST, int]:
        """The arguments of a call, or the elements of a list, each with its number."""
        items = holder.args if isinstance(holder, ast.Call) else holder.elts
        return self.once((holder, "numbers"), lambda: {one: number for number, one in enumerate(items)})

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

    def fill(self) -> None:
        """Go through the tree once."""
        stack: list[tuple[ast.AST, Scope]] = [(node, self.module) for node in reversed(self.tree.body)]
        self.parents |= dict.fromkeys(self.tree.body, self.tree)
        while stack:
            node, scope = stack.pop()
            self.nodes.append(node)
            put_in(node, scope)
            inside = self._visit(node, scope)
            self.parents.update((child, node) for child, _ in inside)
            stack += reversed(inside)

    def _visit(self, node: ast.AST, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        if isinstance(node, DEFINITIONS):
            return self._definition(node, scope)
        if isinstance(node, COMPREHENSIONS):
            inner = Scope(node.generators[0], "", scope, self)
            for part in node.generators:
                inner.bind_target(part.target, How.LOOP, part.iter, part)
            return [(child, inner) for child in children(node)]
        self._note(node, scope)
        if isinstance(node, ROWS) and len(node.elts) > MAX_ELEMENTS:
            # A table of data, not of settings: its numbers are nobody's hyperparameters.
            for child in node.elts:
                put_in(child, scope)
            kept = [child for child in node.elts if not isinstance(child, ast.Constant | ast.UnaryOp)]
            return [(child, scope) for child in kept]
        return [(child, scope) for child in children(node)]

    def _definition(self, node: FunctionNode | ast.ClassDef, scope: Scope) -> list[tuple[ast.AST, Scope]]:
        inner = self.inner[node] = Scope(node, getattr(node, "name", ""), scope, self)
        outside: list[ast.AST] = [*getattr(node, "decorator_list", ())]
        if isinstance(node, ast.ClassDef):
            self.classes.append(inner)
            outside += [*node.bases, *node.keywords]
        else:
            self.functions.append(inner)
            inner.bind_arguments(node.args)
            # Annotations are looked up where they are asked for, and not gone through.
            for part in (*ast.walk(node.args), *ast.walk(getattr(node, "returns", None) or node.args)):
                put_in(part, scope)
            outside += [d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None]
        if inner.name:
            scope.bind(inner.name, How.CLASS if inner.is_class else How.FUNCTION, node)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        return [*((part, scope) for part in outside), *((part, inner) for part in body)]

    def _note(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Call):
            self.calls.append(node)
            self.data_names |= {named_config(node)} - {""}
            self._updates(node)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value.endswith(DATA_SUFFIXES):
                self.data_names.add(node.value)
        elif isinstance(node, ast.stmt):
            self._statement(node, scope)
        elif isinstance(node, ast.NamedExpr):
            holder = next(one for one in scope.chain() if not isinstance(one.node, ast.comprehension))
            holder.bind_target(node.target, How.ASSIGN, node.value, node)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self.loops.append(node)
        elif isinstance(node, ast.Return) and node.value is not None:
            self.returns.setdefault(scope, []).append(node.value)
        elif isinstance(node, ast.With | ast.AsyncWith):
            self.withs.append(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.imports += scope.bind_import(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
            self._entries(dotted_text(node.target), node.value, node)
        scope.bind_statement(node)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = [one for target in targets for one in unpacked(target, How.ASSIGN, node.value)]
            for part, _, value, pick in parts:
                key = stored_key(part)
                if key is not None and value is not None:
                    self._keep(Store(*key, value, part, pick))

    def _updates(self, call: ast.Call) -> None:
        """`config.update({"lr": 0.1})` and `config.update(lr=0.1)` store entries."""
        updated = isinstance(call.func, ast.Attribute) and call.func.attr == "update"
        base = dotted_text(call.func.value) if isinstance(call.func, ast.Attribute) and updated else ""
        if not base:
            return
        for part in call.args[:1]:
            self._entries(base, part, call)
        for given in call.keywords:
            if given.arg is not None:
                self._keep(Store(base, given.arg, given.value, call))

    def _entries(self, base: str, value: ast.expr, node: ast.AST) -> None:
        for key, entry in entries(value).items() if base else ():
            if isinstance(key, str):
                self._keep(Store(base, key, entry, node))

    def _keep(self, store: Store) -> None:
        self.stores.setdefault(store.key, []).append(store)


def _walk(node: ast.AST) -> list[ast.AST]:
    found = [node]
    for one in found:
        found += children(one)
    return found


def statement_of(node: ast.AST) -> ast.stmt:
    """The statement that holds a node."""
    return scope_of(node).index.statement(node)


def stored_key(target: ast.expr) -> tuple[str, str] | None:
    """`("base", "key")` of `base.key` or `base["key"]`, where base is a dotted name."""
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return None
    base = dotted_text(target.value)
    key = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
    return (base, key) if base and isinstance(key, str) else None


def dotted_text(node: ast.expr | None) -> str:
    """`a.b.c` of a chain of names; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return ".".join([node.id, *parts]) if isinstance(node, ast.Name) else ""


Parsed: TypeAlias = tuple[ast.Module, str, Notebook | None]
"""The tree, the Python text, and the notebook it was joined of."""


def parsed(source: SourceFile) -> Parsed | str:
    """A Python file or notebook as the parser reads it, or the reason why it cannot."""
    if source.unparsed:
        return source.unparsed
    try:
        notebook = read_notebook(source.text) if source.language is Language.NOTEBOOK else None
        text = notebook.script if notebook else source.text
        return parse(text, top_level_await=notebook is not None), text, notebook
    except (Unparsable, BadNotebook) as error:
        return str(error)


@lru_cache(maxsize=256)
def index_of(source: SourceFile) -> FileIndex | str:
    """The index of a Python file or notebook, or the reason why there is none."""
    read = parsed(source)
    if isinstance(read, str):
        return read
    tree, text, notebook = read
    index = FileIndex(source, text, LineTable(text), tree, notebook)
    index.module = index.inner[tree] = Scope(tree, "", None, index)
    put_in(tree, index.module)
    index.fill()
    return index
