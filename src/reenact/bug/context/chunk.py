"""A file cut at its functions, classes and top level: each line in one chunk, blank edges in
none.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import TypeAlias

from reenact.codegen.syntax import Definition, FunctionNode, parsed

BIG = 80
"""Lines above which a class is split at its methods, and a conditional block at its definitions."""
SHORT = 6
"""So few lines of comment stay with the definition below, and of a class's head with its first
method.
"""
WINDOW = 60
"""Lines of a chunk of a file that is not valid Python."""
MOST_NAMES = 60
_DEFINITION = re.compile(r"^\s*(?:class|(?:async\s+)?def)\s+(\w+)")
_ASIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|examples?|docs?|tutorials?|benchmarks?|scripts|tools|ci)(?:/|$)"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_test|conftest|setup)\.py$"
)
_BLOCKS = (ast.If, ast.Try, ast.With)
Names: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Chunk:
    """Consecutive lines of one file."""

    number: int
    """Its place among all chunks of the project."""
    path: PurePosixPath
    kind: str
    """function, method, class, `top level`, or text for a file that is not valid Python."""
    name: str
    """Dotted within its file; empty for the top level."""
    first: int
    last: int
    defines: Names
    """What is defined in it, dotted within the file: a small class names its methods too."""
    parameters: Names
    text: str

    def __contains__(self, line: int) -> bool:
        return self.first <= line <= self.last

    @cached_property
    def is_aside(self) -> bool:
        """Whether it is a test, an example or a tool: code about the project, not the project."""
        return is_aside(self.path)


def is_aside(path: PurePosixPath) -> bool:
    """Whether a file is a test, an example or a tool."""
    return bool(_ASIDE.search(str(path)))


def cut(
    path: PurePosixPath,
    text: str,
    number: int = 0,
) -> tuple[Chunk, ...]:
    """The chunks of a file's text, in order, numbered from there."""
    return tuple(_Cutter(path, text.split("\n"), number).all(parsed(text)))


@dataclass
class _Cutter:
    """Cuts one file. Works on lines: a definition ends on a line that nothing else shares."""

    _path: PurePosixPath
    _lines: list[str]
    _number: int

    def all(self, tree: ast.Module | None) -> Iterator[Chunk]:
        """Chunks of the whole file; windows of lines where it is not valid Python."""
        if tree is not None:
            yield from self.cut(
                tree.body,
                1,
                len(self._lines),
                "",
            )
            return
        for start in range(0, len(self._lines), WINDOW):
            part = self._lines[start : start + WINDOW]
            if any(line.strip() for line in part):
                names = tuple(found[1] for line in part if (found := _DEFINITION.match(line)))
                yield self._chunk(
                    "text",
                    "",
                    start + 1,
                    start + len(part),
                    names,
                )

    def _chunk(
        self,
        kind: str,
        name: str,
        first: int,
        last: int,
        defines: Names,
        taken: Names = (),
    ) -> Chunk:
        text = "\n".join(self._lines[first - 1 : last])
        made = Chunk(
            self._number,
            path=self._path,
            kind=kind,
            name=name,
            first=first,
            last=last,
            defines=defines,
            parameters=taken,
            text=text,
        )
        self._number += 1
        return made

    def cut(
        self,
        body: list[ast.stmt],
        first: int,
        last: int,
        owner: str,
    ) -> Iterator[Chunk]:
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
            joins = not isinstance(statement, ast.ClassDef) if heads else not between
            if joins and start - position <= SHORT:
                start = position
                between = []
            yield from self._rest(position, start - 1, owner, between)
            also = (owner[:-1],) if heads and start == position else ()
            while not self._lines[start - 1].strip():
                start += 1
            yield from self._definition(statement, start, owner, also)
            position = floor = (statement.end_lineno or statement.lineno) + 1
            between = []
        yield from self._rest(position, last, owner, between)

    def _start(self, statement: Definition, floor: int) -> int:
        """Its first decorator, and the comment that is right above."""
        start = min(
            [
                statement.lineno,
                *(mark.lineno for mark in statement.decorator_list),
            ]
        )
        while start > floor and self._lines[start - 2].lstrip().startswith("#"):
            start -= 1
        return start

    def _definition(
        self,
        node: Definition,
        start: int,
        owner: str,
        also: Names,
    ) -> Iterator[Chunk]:
        name = f"{owner}{node.name}"
        end = node.end_lineno or node.lineno
        if not isinstance(node, ast.ClassDef):
            kind = "method" if owner else "function"
            yield self._chunk(
                kind,
                name,
                start,
                end,
                (*also, name),
                _parameters(node),
            )
        elif end - start >= BIG:
            yield from self.cut(
                node.body,
                start,
                end,
                f"{name}.",
            )
        else:
            inner = [one for one in node.body if isinstance(one, Definition)]
            made = next(
                (one for one in inner if one.name == "__init__"),
                None,
            )
            parameters = _parameters(made) if isinstance(made, ast.FunctionDef) else ()
            defines = (
                name,
                *(f"{name}.{one.name}" for one in inner),
            )
            yield self._chunk("class", name, start, end, defines, parameters)

    def _rest(
        self,
        first: int,
        last: int,
        owner: str,
        between: list[ast.stmt],
    ) -> Iterator[Chunk]:
        while first <= last and not self._lines[first - 1].strip():
            first += 1
        while first <= last and not self._lines[last - 1].strip():
            last -= 1
        if first > last:
            return
        kind, name = ("class", owner[:-1]) if owner else ("top level", "")
        names: list[str] = []
        for one in between:
            targets = one.targets if isinstance(one, ast.Assign) else [getattr(one, "target", None)]
            names += [f"{owner}{target.id}" for target in targets if isinstance(target, ast.Name)]
        yield self._chunk(
            kind,
            name,
            first,
            last,
            (
                *filter(None, [name]),
                *names[:MOST_NAMES],
            ),
        )


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements in order, a long conditional block replaced by what stands in it."""
    for statement in body:
        long = (
            isinstance(statement, _BLOCKS) and (statement.end_lineno or 0) - statement.lineno >= BIG
        )
        if not long:
            yield statement
            continue
        for part in ("body", "handlers", "orelse", "finalbody"):
            for one in getattr(statement, part, []):
                yield from _flat(one.body if isinstance(one, ast.ExceptHandler) else [one])


def _parameters(node: FunctionNode) -> Names:
    taken = node.args
    names = [one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)]
    return tuple(name for name in names if name not in ("self", "cls"))
