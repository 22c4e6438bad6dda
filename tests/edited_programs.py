"""A program, an edit of its code by a maker of fixes, and the program after it."""

from __future__ import annotations

import ast
import difflib
import textwrap
from collections.abc import Callable, Sequence
from pathlib import PurePosixPath

from reenact.faults import Cure, Evidence, Place, Refused, Suggestion
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph

Maker = Callable[[Evidence], Sequence[Cure]]
AtPlace = Callable[[Evidence, Place | None], Sequence[Cure]]


def read(text: str) -> Evidence:
    """A program that nobody has run."""
    program = program_from_text(textwrap.dedent(text).lstrip("\n"))
    return Evidence(program, static_graph(program))


def at(text: str, line: str) -> Place:
    """The first line of a program that holds a text."""
    lines = textwrap.dedent(text).lstrip("\n").splitlines()
    number = next(number for number, one in enumerate(lines, 1) if line in one)
    return Place(PurePosixPath("train.py"), number, lines[number - 1].index(line), number)


def edits(text: str, make: Maker) -> list[str]:
    """The program after each candidate."""
    evidence = read(text)
    assert evidence.program is not None
    offered = [one for one in make(evidence) if isinstance(one, Suggestion)]
    after = [one.patch.apply(evidence.program).files[0].text for one in offered]
    for one in after:
        ast.parse(one)
    assert all(one.does for one in offered)
    return after


def changed(text: str, make: Maker) -> list[str]:
    """The lines that the first candidate takes out and puts in, with their marks."""
    before = textwrap.dedent(text).lstrip("\n").splitlines()
    (first, *_) = edits(text, make)
    lines = difflib.ndiff(before, first.splitlines())
    return [line for line in lines if line.startswith(("- ", "+ "))]


def refusal(text: str, make: Maker) -> str:
    """Why no edit is offered."""
    (one,) = make(read(text))
    assert isinstance(one, Refused)
    return one.reason


def renamed(text: str, **names: str) -> str:
    """The same program with other names for its variables."""
    lines = text.splitlines(keepends=True)
    found = [one for one in ast.walk(ast.parse(text)) if isinstance(one, ast.Name)]
    for one in sorted(found, key=lambda one: (one.lineno, -one.col_offset)):
        if one.id in names:
            line = lines[one.lineno - 1]
            end = one.col_offset + len(one.id)
            lines[one.lineno - 1] = line[: one.col_offset] + names[one.id] + line[end:]
    return "".join(lines)
