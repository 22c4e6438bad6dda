"""What a look at the code came to, before anybody calls it a verdict, and which lines of a project are code.

A comment that promises something is no code that does it.
"""

from __future__ import annotations

import ast
import io
import tokenize
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from reenact.codegen.project import Project
from reenact.paper.criterion import CodeLine, Criterion, Judged, Value


@dataclass(frozen=True, slots=True)
class CodeFinding:
    """What a program saw of one criterion."""

    value: Value | None
    """Pass or fail; none when a program cannot tell, and what it saw is a hint."""
    seen: str
    lines: tuple[CodeLine, ...] = ()
    refutes: bool = False
    """A function gave other values than the formula: no judge may call that a pass."""

    def judged(self, criterion: Criterion, value: Value) -> Judged:
        return Judged(criterion.id, value, "check", self.seen, self.lines)


NOTHING = CodeFinding(None, "A program found nothing that it could compare.")


def unjudged(criterion: Criterion, reason: str, lines: tuple[CodeLine, ...] = ()) -> Judged:
    """Nobody could tell, and why."""
    return Judged(criterion.id, Value.UNKNOWN, "nobody", reason, lines)


SETTINGS = frozenset((".yaml", ".yml", ".json", ".toml", ".cfg", ".ini", ".sh", ".txt"))
"""Files whose lines count although they are no Python."""
_SILENT = frozenset(
    (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
     tokenize.ENDMARKER)
)  # fmt: skip


def existing(project: Project, file: str, line: int, text: str = "") -> CodeLine | None:
    """The line of code that is meant; none when there is none.

    A wrong number is put right when the words that come with it stand in exactly one line of the file.
    """
    name = file.strip().removeprefix("./")
    if name not in project.files:
        return None
    source = project.files[name]
    lines, counted = source.splitlines(), code_lines(name, source)
    wanted = " ".join(text.split())
    if wanted:
        same = [number for number in counted if " ".join(lines[number - 1].split()) == wanted]
        if len(same) == 1 and line not in same:
            line = same[0]
    return CodeLine(name, line, lines[line - 1].strip()) if line in counted else None


@lru_cache(maxsize=128)
def code_lines(name: str, text: str) -> frozenset[int]:
    """Numbers of the lines that do or set something."""
    suffix = PurePosixPath(name).suffix
    plain = frozenset(
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and not line.lstrip().startswith("#")
    )
    if suffix in SETTINGS:
        return plain
    return _python(text, plain) if suffix == ".py" else frozenset()


def _python(text: str, plain: frozenset[int]) -> frozenset[int]:
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
        spoken = _spoken(ast.parse(text))
    except (SyntaxError, tokenize.TokenError, ValueError, RecursionError):
        return plain
    found = {
        number
        for token in tokens
        if token.type not in _SILENT
        for number in range(token.start[0], token.end[0] + 1)
    }
    return frozenset(found - spoken) & plain


def _spoken(tree: ast.Module) -> set[int]:
    """Lines of strings that stand alone: docstrings."""
    return {
        number
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
