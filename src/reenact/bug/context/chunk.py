"""A file cut at its functions, classes and top level: each line in one chunk, blank edges in none."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from reenact.codegen.syntax import Definition, FunctionNode, parsed

BIG = 80
"""Lines above which a class is split at its methods, and a conditional block at its definitions."""
SHORT = 6
"""So few lines of comment stay with the definition below, and of a class's head with its first method."""
WINDOW = 60
"""Lines of a chunk of a file that is no valid Python."""
MOST_NAMES = 60
_DEFINITION = re.compile(r"^\s*(?:class|(?:async\s+)?def)\s+(\w+)")

_BLOCKS = (ast.If, ast.Try, ast.With)


@dataclass(frozen=True, slots=True)
class Chunk:
    """Consecutive lines of one file."""

    file: int
    """Its file, by position in the index."""
    kind: str
    name: str
    first: int
    last: int
    defines: tuple[str, ...]
    """What is defined in it, dotted within the file: a small class names its methods too."""
    parameters: tuple[str, ...]

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last


def cut(text: str, file: int) -> tuple[Chunk, ...]:
    """The chunks of a file's text, in order."""
    lines = text.split("\n")
    tree = parsed(text)
    if tree is None:
        return tuple(_windows(lines, file))
    return tuple(_Cutter(lines, file).cut(tree.body, 1, len(lines), ""))


def _windows(lines: list[str], file: int) -> Iterator[Chunk]:
    for start in range(0, len(lines), WINDOW):
        part = lines[start : start + WINDOW]
        if any(line.strip() for line in part):
            names = tuple(found[1] for line in part if (found := _DEFINITION.match(line)))
            yield Chunk(file, "text", "", start + 1, start + len(part), names, ())


class _Cutter:
    """Cuts one file. Works on lines: a definition ends on a line that nothing else shares."""

    def __init__(self, lines: list[str], file: int) -> None:
        self._lines = lines
        self._file = file

    def cut(self, body: list[ast.stmt], first: int, last: int, owner: str) -> Iterator[Chunk]:
        """Chunks of lines first..last, which hold these statements."""
        position = first
        between: list[ast.stmt] = []
        floor = first
        for statement in _flat(body):
            if not isinstance(statement, Definition):
                between.append(statement)
                floor = (statement.end_lineno or statement.lineno) + 1
                continue
            start = self._start(statement, max(floor, position))
            heads = bool(owner) and position == first
            if start - position <= SHORT and (not between if not heads else not _is_class(statement)):
                start, between = position, []
            yield from self._rest(position, start - 1, owner, between)
            also = (owner[:-1],) if heads and start == position else ()
            yield from self._definition(statement, self._filled(start), owner, also)
            position = floor = (statement.end_lineno or statement.lineno) + 1
            between = []
        yield from self._rest(position, last, owner, between)

    def _start(self, statement: Definition, floor: int) -> int:
        """Its first decorator, and the comment that stands right above."""
        start = min([statement.lineno, *(mark.lineno for mark in statement.decorator_list)])
        while start > floor and self._lines[start - 2].lstrip().startswith("#"):
            start -= 1
        return start

    def _filled(self, line: int) -> int:
        """The first line from here that is not blank."""
        while not self._lines[line - 1].strip():
            line += 1
        return line

    def _definition(self, node: Definition, start: int, owner: str, also: tuple[str, ...]) -> Iterator[Chunk]:
        name = f"{owner}{node.name}"
        end = node.end_lineno or node.lineno
        if not isinstance(node, ast.ClassDef):
            kind = "method" if owner else "function"
            yield Chunk(self._file, kind, name, start, end, (*also, name), _parameters(node))
        elif end - start >= BIG:
            yield from self.cut(node.body, start, end, f"{name}.")
        else:
            inner = [one for one in node.body if isinstance(one, Definition)]
            made = next((one for one in inner if one.name == "__init__"), None)
            parameters = _parameters(made) if isinstance(made, ast.FunctionDef) else ()
            defines = (name, *(f"{name}.{one.name}" for one in inner))
            yield Chunk(self._file, "class", name, start, end, defines, parameters)

    def _rest(self, first: int, last: int, owner: str, between: list[ast.stmt]) -> Iterator[Chunk]:
        while first <= last and not self._lines[first - 1].strip():
            first += 1
        while first <= last and not self._lines[last - 1].strip():
            last -= 1
        if first > last:
            return
        kind, name = ("class", owner[:-1]) if owner else ("top level", "")
        names = [f"{owner}{one}" for statement in between for one in _assigned(statement)]
        defines = (*((name,) if name else ()), *names[:MOST_NAMES])
        yield Chunk(self._file, kind, name, first, last, defines, ())


def _is_class(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ClassDef)


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in order, a long conditional block replaced by what stands in it."""
    for statement in body:
        long = isinstance(statement, _BLOCKS) and (statement.end_lineno or 0) - statement.lineno >= BIG
        if not long:
            yield statement
            continue
        for part in ("body", "handlers", "orelse", "finalbody"):
            for one in getattr(statement, part, []):
                yield from _flat(one.body if isinstance(one, ast.ExceptHandler) else [one])


def _parameters(node: FunctionNode) -> tuple[str, ...]:
    taken = node.args
    names = [one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
    return tuple(name for name in names if name not in ("self", "cls"))


def _assigned(statement: ast.stmt) -> Iterator[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [getattr(statement, "target", None)]
    for target in targets:
        if isinstance(target, ast.Name):
            yield target.id
