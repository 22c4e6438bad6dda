"""The index with the text and the syntax trees behind it, read when they are asked for and then kept."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from reenact.bug.context.chunk import Chunk
from reenact.bug.context.index import Index
from reenact.bug.context.source import read_text
from reenact.bug.project.files import ProjectFiles
from reenact.bug.project.lookup import Class, Codebase, Function
from reenact.codegen.project import parsed


@dataclass
class Code:
    """One checkout as the steps of the search see it. Lives as long as one search."""

    index: Index
    folder: Path
    _lines: dict[PurePosixPath, list[str]] = field(default_factory=dict)
    _trees: dict[PurePosixPath, ast.Module | None] = field(default_factory=dict)
    _nodes: dict[PurePosixPath, list[ast.AST]] = field(default_factory=dict)
    _docstrings: dict[PurePosixPath, frozenset[int]] = field(default_factory=dict)

    @cached_property
    def project(self) -> Codebase:
        """Names through imports and re-exports."""
        return Codebase(ProjectFiles(self.folder, self.index.paths))

    @cached_property
    def modules(self) -> dict[PurePosixPath, str]:
        """The dotted name by which each file is imported; the shorter one where there are two."""
        found: dict[PurePosixPath, str] = {}
        for name, path in self.project.files.modules.items():
            if path not in found or len(name) < len(found[path]):
                found[path] = name
        return found

    def chunk(self, number: int) -> Chunk:
        return self.index.chunks[number]

    def path(self, number: int) -> PurePosixPath:
        return self.index.path(number)

    def lines(self, path: PurePosixPath) -> list[str]:
        """The lines of a file; line n stands at n - 1."""
        if path not in self._lines:
            self._lines[path] = read_text(self.folder, path).split("\n")
        return self._lines[path]

    def text(self, number: int) -> str:
        """The lines of a chunk."""
        chunk = self.chunk(number)
        return "\n".join(self.lines(self.path(number))[chunk.first - 1 : chunk.last])

    def tree(self, path: PurePosixPath) -> ast.Module | None:
        """The syntax tree of a file; none when it is no valid Python."""
        if path not in self._trees:
            self._trees[path] = parsed("\n".join(self.lines(path)))
        return self._trees[path]

    def nodes(self, number: int) -> list[ast.AST]:
        """Every node of a chunk."""
        path, chunk = self.path(number), self.chunk(number)
        if path not in self._nodes:
            tree = self.tree(path)
            self._nodes[path] = [one for one in ast.walk(tree) if hasattr(one, "lineno")] if tree else []
        return [one for one in self._nodes[path] if chunk.first <= one.lineno <= chunk.last]  # type: ignore[attr-defined]

    def docstrings(self, path: PurePosixPath) -> frozenset[int]:
        """Lines of long docstrings, but the first ones of each."""
        if path not in self._docstrings:
            tree = self.tree(path)
            self._docstrings[path] = frozenset(_docstring_lines(tree)) if tree is not None else frozenset()
        return self._docstrings[path]

    def place(self, found: Class | Function) -> tuple[PurePosixPath, int] | None:
        """The file of a definition, and its chunk."""
        path = self.project.files.modules.get(found.module)
        number = self.index.at(path, found.node.lineno) if path is not None else None
        return (path, number) if path is not None and number is not None else None


def _docstring_lines(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            yield from range(first.lineno + 3, (first.end_lineno or first.lineno) + 1)
