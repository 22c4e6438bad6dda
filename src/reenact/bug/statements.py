"""A script as statements that can be left out: by line range, so that what stays keeps its words."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Lines of one statement (or of several that share a line), counted from 1, both ends included."""

    first: int
    last: int


def top_level(script: str) -> tuple[Span, ...]:
    """The statements at the top of a script."""
    return _spans(ast.parse(script).body)


def printing(script: str) -> tuple[Span, ...]:
    """Statements at the top that only print."""
    body = ast.parse(script).body
    calls = [node for node in body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    named = [node for node in calls if ast.unparse(node.value).startswith("print(")]
    return tuple(
        span for span in _spans(body) if any(span == Span(one.lineno, one.end_lineno or 0) for one in named)
    )


def inner_bodies(script: str) -> tuple[tuple[Span, ...], ...]:
    """The statements of each block of more than one statement: functions, loops, branches."""
    found = []
    for node in ast.walk(ast.parse(script)):
        for part in ("body", "orelse", "finalbody"):
            body = getattr(node, part, None)
            if isinstance(node, ast.Module) or not isinstance(body, list) or len(body) < 2:
                continue
            found.append(_spans(body))
    return tuple(spans for spans in found if len(spans) > 1)


def without(script: str, gone: Iterable[Span]) -> str:
    """The script without these statements, and without the blank lines and comments that stood alone."""
    dropped = {number for span in gone for number in range(span.first, span.last + 1)}
    lines = [line for number, line in enumerate(script.splitlines(), start=1) if number not in dropped]
    return "\n".join(lines).strip("\n") + "\n" if lines else ""


def tidied(script: str) -> str:
    """The script without comments that stand alone and with single blank lines."""
    kept: list[str] = []
    inside = _string_lines(script)
    for number, line in enumerate(script.splitlines(), start=1):
        if number not in inside and (
            line.strip().startswith("#") or (not line.strip() and kept[-1:] == [""])
        ):
            continue
        kept.append(line.rstrip() if number not in inside else line)
    return "\n".join(kept).strip("\n") + "\n"


def _string_lines(script: str) -> set[int]:
    """Lines within a text that goes over several: nothing there is a comment or a blank line."""
    found: set[int] = set()
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None:
            found |= set(range(node.lineno, node.end_lineno + 1)) if node.end_lineno > node.lineno else set()
    return found


def _spans(body: Sequence[ast.stmt]) -> tuple[Span, ...]:
    spans: list[Span] = []
    for statement in body:
        marks = getattr(statement, "decorator_list", [])
        first = min([statement.lineno, *(mark.lineno for mark in marks)])
        span = Span(first, statement.end_lineno or first)
        if spans and span.first <= spans[-1].last:
            span = Span(spans.pop().first, span.last)
        spans.append(span)
    return tuple(spans)
