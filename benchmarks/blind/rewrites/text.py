"""The text of one file while it is rewritten: each line knows the lines of the original program
that it says.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

Origins = frozenset[int]
"""Lines of the original file, from 1. A line has several where it holds what stood on several."""
Position = tuple[int, int]
"""Line from 0, and character in it."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A stretch of text that is replaced."""

    start: Position
    end: Position
    text: str
    origins: tuple[Origins, ...] = ()
    """Of each line of `text`; empty: those of what it replaces."""


@dataclass(frozen=True)
class Source:
    """One file."""

    lines: tuple[str, ...]
    origins: tuple[Origins, ...]

    @classmethod
    def of(cls, text: str) -> Source:
        """A file as it was written."""
        lines = tuple(text.split("\n"))
        return cls(lines, tuple(frozenset({number}) for number in range(1, len(lines) + 1)))

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @cached_property
    def tree(self) -> ast.Module:
        """Raises SyntaxError."""
        return ast.parse(self.text)

    @property
    def line_map(self) -> tuple[tuple[int, ...], ...]:
        """For each line, in order: the lines of the original."""
        return tuple(tuple(sorted(lines)) for lines in self.origins)

    def start_of(self, node: ast.AST) -> Position:
        return self._position(vars(node)["lineno"], vars(node)["col_offset"])

    def end_of(self, node: ast.AST) -> Position:
        return self._position(vars(node)["end_lineno"], vars(node)["end_col_offset"])

    def _position(self, line: int, byte: int) -> Position:
        encoded = self.lines[line - 1].encode()
        return line - 1, len(encoded[:byte].decode())

    def segment(self, node: ast.AST) -> str:
        """The text of a node."""
        return self.between(self.start_of(node), self.end_of(node))

    def between(self, start: Position, end: Position) -> str:
        """The text of a stretch."""
        if start[0] == end[0]:
            return self.lines[start[0]][start[1] : end[1]]
        whole = self.lines[start[0] + 1 : end[0]]
        return "\n".join((self.lines[start[0]][start[1] :], *whole, self.lines[end[0]][: end[1]]))

    def origins_of(self, node: ast.AST) -> tuple[Origins, ...]:
        """Of each line of a node."""
        return self.origins[self.start_of(node)[0] : self.end_of(node)[0] + 1]

    def edited(self, edits: Iterable[Edit]) -> Source:
        """With these stretches replaced. Raises ValueError where two overlap."""
        lines, origins = list(self.lines), list(self.origins)
        before: Position = (len(lines), 0)
        for edit in sorted(edits, key=lambda one: (one.start, one.end), reverse=True):
            if edit.end > before:
                raise ValueError(f"Two edits overlap. Received: {edit}.")
            before = edit.start
            first, last = edit.start[0], edit.end[0]
            head, tail = lines[first][: edit.start[1]], _rest(lines, edit.end)
            pieces = (head + edit.text + tail).split("\n")
            places = _places(origins[first : last + 1], edit, head, tail, len(pieces))
            lines[first : last + 1] = pieces
            origins[first : last + 1] = places
        return Source(tuple(lines), tuple(origins))

    def in_order(self, order: Iterable[int]) -> Source:
        """The same lines, by number from 0, in another order."""
        numbers = list(order)
        return Source(
            tuple(self.lines[number] for number in numbers),
            tuple(self.origins[number] for number in numbers),
        )


def _rest(lines: list[str], end: Position) -> str:
    return lines[end[0]][end[1] :] if end[0] < len(lines) else ""


def _places(replaced: list[Origins], edit: Edit, head: str, tail: str, count: int) -> list[Origins]:
    """Of the lines that stand where an edit was made."""
    first = replaced[0] if replaced else frozenset()
    last = replaced[-1] if replaced else frozenset()
    everything = frozenset().union(*replaced)
    given = list(edit.origins)
    if count == 1:
        if not edit.text:
            return [last if not head.strip() else first if not tail.strip() else everything]
        return [everything | frozenset().union(*given)]
    middle = given or [first] * count
    middle += [middle[-1]] * (count - len(middle))
    if head.strip():
        middle[0] |= first
    if tail.strip():
        middle[count - 1] = last if edit.text.endswith("\n") else middle[count - 1] | last
    elif edit.text.endswith("\n"):
        middle[count - 1] = last
    return middle[:count]


@dataclass(frozen=True)
class Project:
    """The Python files of a program, and what else is in its folder."""

    files: Mapping[str, Source]
    """By path, relative to its folder."""
    data: str = ""
    """The text of its other files: YAML, JSON."""
    python: str = sys.executable
    """An interpreter that is asked what the classes of frameworks define."""

    @property
    def modules(self) -> frozenset[str]:
        """Words of the names under which its files import one another."""
        return frozenset(
            word for path in self.files for word in path.removesuffix(".py").split("/")
        )

    def with_files(self, files: Mapping[str, Source]) -> Project:
        return replace(self, files={**self.files, **files})


def blocks(tree: ast.AST) -> Iterator[list[ast.stmt]]:
    """Every list of statements."""
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            value = getattr(node, name, None)
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                yield value


def header_end(tree: ast.Module) -> int:
    """Line, from 0, before which module docstring and future imports end."""
    line = 0
    for number, statement in enumerate(tree.body):
        is_docstring = number == 0 and is_text(statement)
        if is_docstring or (
            isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        ):
            line = statement.end_lineno or statement.lineno
        else:
            break
    return line


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a string and nothing else."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def fresh_names(project: Project, prefix: str) -> Iterator[str]:
    """Names that occur nowhere in the program."""
    everything = "\n".join([source.text for source in project.files.values()] + [project.data])
    number = 0
    while True:
        number += 1
        name = f"{prefix}{number}"
        if name not in everything:
            yield name
