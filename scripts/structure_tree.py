"""The Python files of a tree, each parsed once, with its size.

A *node* is what `ast.walk` gives: names, contexts and constants included, docstrings as the two
they are. A *code line* holds a token of code: blank lines, comments and statements that are a
string (docstrings) are not counted; every line of a longer string that is a value is.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

OUTSIDE = ("demo/cases/",)
"""Programs that a demo shows: data, not code of ours."""
NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
TOP = "(top)"


@dataclass(frozen=True)
class Module:
    """One file of a tree."""

    root: Path
    """The folder of the outermost package."""
    path: Path

    @property
    def file(self) -> str:
        """Its path from the root."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def package(self) -> str:
        """The folder right below the root that it lies in."""
        first, slash, _rest = self.file.partition("/")
        return first if slash else TOP

    @property
    def is_package(self) -> bool:
        """Whether it is the file of a folder."""
        return self.path.name == "__init__.py"

    @property
    def name(self) -> str:
        """As it is imported."""
        parts = self.path.relative_to(self.root.parent).with_suffix("").parts
        return ".".join(parts[:-1] if self.is_package else parts)

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text, filename=str(self.path))

    @cached_property
    def nodes(self) -> int:
        """How many syntax nodes it has."""
        return sum(1 for _node in ast.walk(self.tree))

    @cached_property
    def code_lines(self) -> int:
        """How many of its lines hold code."""
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in NO_CODE:
                lines.update(range(token.start[0], token.end[0] + 1))
        return len(lines - set(_lines_of_docstrings(self.tree)))


def modules_of(root: Path) -> list[Module]:
    """Every Python file below a folder, by path."""
    root = root.resolve()
    modules = [Module(root, path) for path in sorted(root.rglob("*.py"))]
    return [module for module in modules if not module.file.startswith(OUTSIDE)]


def _lines_of_docstrings(tree: ast.Module) -> Iterator[int]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)
