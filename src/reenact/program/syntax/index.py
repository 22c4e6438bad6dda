"""One pass over one file: scopes, bindings, calls, stores, loops, parents. Iterative, so no source
is too deep.
"""

import ast
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from reenact.program.syntax.calls import entries
from reenact.program.syntax.datafile import named_config
from reenact.program.syntax.notebook import BadNotebook, Notebook, read_notebook
from reenact.program.syntax.scope import FileIndex as FileIndex
from reenact.program.syntax.scope import (
    FunctionNode,
    Scope,
    Store,
    children,
    put_in,
    scope_of,
)
from reenact.program.syntax.scope import N as N
from reenact.program.syntax.source import Language, LineTable, SourceFile, Unparsable, parse
from reenact.program.syntax.targets import How, unpacked

MAX_ELEMENTS = 256
DATA_SUFFIXES = (".yaml", ".yml", ".json")
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
ROWS = (ast.List, ast.Tuple, ast.Set)


@dataclass(frozen=True, slots=True)
class _Pass:
    """Goes through the tree of a file once and fills its index."""

    index: FileIndex

    def go(self) -> None:
        """From the top to the end."""
        stack: list[tuple[ast.AST, Scope]] = [
            (node, self.index.module) for node in reversed(self.index.tree.body)
        ]
        self.index.parents |= dict.fromkeys(
            self.index.tree.body,
            self.index.tree,
        )
        while stack:
            node, scope = stack.pop()
            self.index.nodes.append(node)
            put_in(node, scope)
            inside = self._visit(node, scope)
            self.index.parents.update((child, node) for child, _ in inside)
            stack += reversed(inside)

    def _visit(
        self,
        node: ast.AST,
        scope: Scope,
    ) -> list[tuple[ast.AST, Scope]]:
        if isinstance(node, DEFINITIONS):
            return self._definition(node, scope)
        if isinstance(node, COMPREHENSIONS):
            inner = Scope(
                node.generators[0],
                "",
                scope,
                self.index,
            )
            for part in node.generators:
                inner.bind_target(part.target, How.LOOP, part.iter, part)
            return [(child, inner) for child in children(node)]
        self._note(node, scope)
        if isinstance(node, ROWS) and len(node.elts) > MAX_ELEMENTS:
            # A table of data, not of settings: its numbers are no one's hyperparameters.
            for child in node.elts:
                put_in(child, scope)
            kept = [
                child for child in node.elts if not isinstance(child, ast.Constant | ast.UnaryOp)
            ]
            return [(child, scope) for child in kept]
        return [(child, scope) for child in children(node)]

    def _definition(
        self, node: FunctionNode | ast.ClassDef, scope: Scope
    ) -> list[tuple[ast.AST, Scope]]:
        inner = self.index.inner[node] = Scope(
            node,
            getattr(node, "name", ""),
            scope,
            self.index,
        )
        outside: list[ast.AST] = [*getattr(node, "decorator_list", ())]
        if isinstance(node, ast.ClassDef):
            self.index.classes.append(inner)
            outside += [*node.bases, *node.keywords]
        else:
            self.index.functions.append(inner)
            inner.bind_arguments(node.args)
            # Annotations are looked up where they are asked for, and not gone through.
            for part in (
                *ast.walk(node.args),
                *ast.walk(getattr(node, "returns", None) or node.args),
            ):
                put_in(part, scope)
            for d in (*node.args.defaults, *node.args.kw_defaults):
                if d is not None:
                    outside.append(d)
        if inner.name:
            scope.bind(
                inner.name,
                How.CLASS if inner.is_class else How.FUNCTION,
                node,
            )
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        return [
            *((part, scope) for part in outside),
            *((part, inner) for part in body),
        ]

    def _note(self, node: ast.AST, scope: Scope) -> None:
        if isinstance(node, ast.Call):
            self.index.calls.append(node)
            self.index.data_names |= {named_config(node)} - {""}
            self._updates(node)
        elif isinstance(node, ast.Constant):
            if isinstance(node.value, str) and node.value.endswith(DATA_SUFFIXES):
                self.index.data_names.add(node.value)
        elif isinstance(node, ast.stmt):
            self._statement(node, scope)
        elif isinstance(node, ast.NamedExpr):
            holder = next(
                one for one in scope.chain() if not isinstance(one.node, ast.comprehension)
            )
            holder.bind_target(node.target, How.ASSIGN, node.value, node)

    def _statement(self, node: ast.stmt, scope: Scope) -> None:
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            self.index.loops.append(node)
        elif isinstance(node, ast.Return) and node.value is not None:
            self.index.returns.setdefault(scope, []).append(node.value)
        elif isinstance(node, ast.With | ast.AsyncWith):
            self.index.withs.append(node)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            self.index.imports += scope.bind_import(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.BitOr):
            self._entries(dotted_text(node.target), node.value, node)
        scope.bind_statement(node)
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                self._stored(target, node.value)

    def _stored(self, target: ast.expr, given: ast.expr | None) -> None:
        """`config.lr = 0.1` and `config["lr"] = 0.1` store entries."""
        for part, _, value, pick in unpacked(target, How.ASSIGN, given):
            key = stored_key(part)
            if key is not None and value is not None:
                self._keep(Store(*key, value, part, pick))

    def _updates(self, call: ast.Call) -> None:
        """`config.update({"lr": 0.1})` and `config.update(lr=0.1)` store entries."""
        if not isinstance(call.func, ast.Attribute) or call.func.attr != "update":
            return
        base = dotted_text(call.func.value)
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
        self.index.stores.setdefault(store.key, []).append(store)


def statement_of(node: ast.AST) -> ast.stmt:
    """The statement that holds a node."""
    return scope_of(node).index.statement(node)


def stored_key(target: ast.expr) -> tuple[str, str] | None:
    """`("base", "key")` of `base.key` or `base["key"]`, where base is a dotted name."""
    if not isinstance(target, ast.Attribute | ast.Subscript):
        return None
    base = dotted_text(target.value)
    key = target.attr if isinstance(target, ast.Attribute) else getattr(target.slice, "value", None)
    if base and isinstance(key, str):
        return base, key
    return None


def dotted_text(node: ast.expr | None) -> str:
    """`a.b.c` of a chain of names; empty for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *parts])


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
    _Pass(index).go()
    return index
