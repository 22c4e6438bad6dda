"""Statements put in, before or after another, and taken out; blocks on one line and semicolons are minded."""

from __future__ import annotations

import ast

from reenact.program.lines import Span
from reenact.program.read.index import FileIndex


def before_statement(index: FileIndex, statement: ast.stmt, code: str) -> tuple[Span, str]:
    """The edit that makes `code` run just before a statement."""
    start = _start(index, statement)
    line_start = _line_start(index, start)
    if index.text[line_start:start].strip():
        return Span(start, start), f"{code}; "
    indent = index.text[line_start:start]
    return Span(line_start, line_start), _lines(code, indent, index.lines.newline)


def after_statement(index: FileIndex, statement: ast.stmt, code: str) -> tuple[Span, str]:
    """The edit that makes `code` run just after a statement."""
    end = index.span(statement).end
    line_end = _line_end(index, end)
    rest = index.text[end:line_end].strip()
    if rest.startswith(";") or _on_header_line(index, statement):
        return Span(end, end), f"; {code}"
    indent = index.lines.indent(_start(index, statement))
    newline = index.lines.newline
    # Put at the end of the line rather than at the start of the next: in a notebook that would be another
    # cell.
    return Span(line_end, line_end), "".join(newline + indent + line for line in code.split("\n"))


def without_statement(index: FileIndex, statement: ast.stmt) -> tuple[Span, str]:
    """The edit that takes a statement out; a block is never left empty."""
    span = Span(_start(index, statement), index.span(statement).end)
    if _only_one(index, statement):
        return span, "pass"
    line_start, line_end = _line_start(index, span.start), _line_end(index, span.end)
    rest = index.text[span.end : line_end].strip()
    if not index.text[line_start : span.start].strip() and (not rest or rest.startswith("#")):
        return Span(line_start, _after_break(index.text, line_end)), ""
    if rest.startswith(";"):
        after = index.text.index(";", span.end) + 1
        while index.text[after : after + 1] in (" ", "\t"):
            after += 1
        return Span(span.start, after), ""
    before = index.text.rfind(";", line_start, span.start)
    return (Span(before, span.end), "") if before >= 0 else (span, "pass")


def _lines(code: str, indent: str, newline: str) -> str:
    return "".join(indent + line + newline for line in code.split("\n"))


def _start(index: FileIndex, statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        return index.span(decorators[0]).start - 1
    return index.span(statement).start


def _line_start(index: FileIndex, offset: int) -> int:
    return index.lines.starts[index.lines.line_column(offset)[0] - 1]


def _line_end(index: FileIndex, offset: int) -> int:
    place = offset
    while place < len(index.text) and index.text[place] not in "\r\n":
        place += 1
    return place


def _after_break(text: str, place: int) -> int:
    if place >= len(text):
        return len(text)
    return place + 2 if text[place : place + 2] == "\r\n" else place + 1


def _on_header_line(index: FileIndex, statement: ast.stmt) -> bool:
    """`for x in y: step()`: the block stands on the line of its header."""
    parent = index.parents.get(statement)
    if not isinstance(parent, ast.stmt) or isinstance(parent, ast.ClassDef | ast.Module):
        return False
    start = _line_start(index, _start(index, statement))
    before = index.text[start : _start(index, statement)]
    return bool(before.strip()) and parent.lineno <= statement.lineno and ":" in before


def _only_one(index: FileIndex, statement: ast.stmt) -> bool:
    parent = index.parents.get(statement)
    for name in ("body", "orelse", "finalbody", "handlers"):
        block = getattr(parent, name, None)
        if isinstance(block, list) and statement in block:
            return len(block) == 1 and not isinstance(parent, ast.Module)
    return False
