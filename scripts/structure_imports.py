"""Who imports whom in a tree: circles of files, and floors.

Three kinds of import are counted: at the top of a module, inside a function, and for type checkers
only. `import_module("package.module")` with a literal is an import like any other. Names that are
put together at run time (a folder of plug-ins) are not followed, nor is the package that importing
a module in it loads.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

from structure_tree import Module


class Kind(IntEnum):
    """Where an import is written; a higher one is left out first."""

    TOP = 0
    INSIDE = 1
    TYPES = 2


@dataclass(frozen=True)
class Import:
    """One module imports another."""

    source: str
    target: str
    kind: Kind
    place: str
    """File and line."""


FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def imports_of(modules: Collection[Module]) -> list[Import]:
    """Every import of one of these modules by another one."""
    names = {module.name for module in modules}
    found = []
    for module in modules:
        for node, kind in _nodes(module.tree, Kind.TOP):
            for target in dict.fromkeys(_targets(node, module, names)):
                if target in names and target != module.name:
                    place = f"{module.file}:{getattr(node, 'lineno', 0)}"
                    found.append(Import(module.name, target, kind, place))
    return found


def _nodes(node: ast.AST, kind: Kind) -> Iterator[tuple[ast.AST, Kind]]:
    """Everything below a node, with the kind of an import that is written there."""
    for name, value in ast.iter_fields(node):
        below = _kind_below(node, name, kind)
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield child, below
                yield from _nodes(child, below)


def _kind_below(node: ast.AST, field: str, kind: Kind) -> Kind:
    if isinstance(node, ast.If) and field == "body" and _is_for_types(node.test):
        return Kind.TYPES
    if isinstance(node, FUNCTIONS) and field == "body":
        return max(kind, Kind.INSIDE)
    return kind


def _is_for_types(test: ast.expr) -> bool:
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")
    return name.endswith("TYPE_CHECKING")


def _targets(node: ast.AST, module: Module, names: Collection[str]) -> Iterator[str]:
    """What a node imports, the longest name that is a module."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = _base(node, module)
        for alias in node.names:
            longer = f"{base}.{alias.name}"
            yield longer if longer in names else base
    elif isinstance(node, ast.Call) and node.args and _called(node) == "import_module":
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first.value


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")


def _base(node: ast.ImportFrom, module: Module) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    up = node.level - 1 if module.is_package else node.level
    return ".".join([*parts[: len(parts) - up], *([node.module] if node.module else [])])


def circles_of(imports: Iterable[Import], most: Kind) -> list[list[str]]:
    """The circles of files by imports up to a kind, largest first, each sorted."""
    graph: dict[str, set[str]] = {}
    for each in imports:
        if each.kind <= most:
            graph.setdefault(each.source, set()).add(each.target)
    circles = [sorted(group) for group in knots(graph) if len(group) > 1]
    return sorted(circles, key=lambda circle: (-len(circle), circle))


def ties(imports: Iterable[Import], circle: Collection[str], most: Kind) -> list[Import]:
    """The imports that close a circle: those within it of the latest kind it needs."""
    within = [
        each
        for each in imports
        if each.kind <= most and each.source in circle and each.target in circle
    ]
    latest = max(each.kind for each in within)
    return [each for each in within if each.kind == latest]


def knots(graph: Mapping[str, Collection[str]]) -> list[frozenset[str]]:
    """The strongly connected parts of a graph, lower ones first (Tarjan 1972)."""
    search = _Search(graph)
    for node in sorted({*graph, *(target for targets in graph.values() for target in targets)}):
        if node not in search.number:
            search.visit(node)
    return search.parts


class _Search:
    """Tarjan's search: as deep in the interpreter as the longest chain of imports."""

    def __init__(self, graph: Mapping[str, Collection[str]]) -> None:
        self.graph = graph
        self.number: dict[str, int] = {}
        self.lowest: dict[str, int] = {}
        self.waiting: list[str] = []
        self.parts: list[frozenset[str]] = []

    def visit(self, node: str) -> None:
        """Number a node and all below it; keep the part that it is the first of."""
        self.number[node] = len(self.number)
        self.lowest[node] = self.number[node]
        self.waiting.append(node)
        for target in sorted(self.graph.get(node, ())):
            if target not in self.number:
                self.visit(target)
                self.lowest[node] = min(self.lowest[node], self.lowest[target])
            elif target in self.waiting:
                self.lowest[node] = min(self.lowest[node], self.number[target])
        if self.lowest[node] == self.number[node]:
            at = self.waiting.index(node)
            self.parts.append(frozenset(self.waiting[at:]))
            del self.waiting[at:]


def floors_of(graph: Mapping[str, Collection[str]], every: Iterable[str]) -> dict[str, int]:
    """Each node's floor: 0 imports nothing here, a circle is on one floor."""
    floor = dict.fromkeys(every, 0)
    for part in knots(graph):
        below = [
            floor.get(target, 0) + 1
            for node in part
            for target in graph.get(node, ())
            if target not in part
        ]
        for node in part:
            floor[node] = max(below, default=0)
    return floor
