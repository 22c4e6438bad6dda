"""Pieces of text put in and taken out so that the rest, its line breaks and comments, stays as it
is: items between brackets, each with its comma; statements; and the imports that a library name
needs where a file has none for it.
"""

import ast
import io
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from tokenize import (
    COMMENT,
    DEDENT,
    ENDMARKER,
    INDENT,
    NEWLINE,
    NL,
    TokenError,
    generate_tokens,
)
from typing import TypeAlias

from reenact.errors import NotChangeable
from reenact.program.flow.library_names import canonical
from reenact.program.syntax.scope import Binding, FileIndex, scope_of
from reenact.program.syntax.source import LineTable, Span
from reenact.program.syntax.targets import How

OPENING = frozenset("([{")
CLOSING = frozenset(")]}")
SILENT = (NL, NEWLINE, COMMENT, INDENT, DEDENT, ENDMARKER)
Bracketed: TypeAlias = ast.Call | ast.List | ast.Tuple
Edit: TypeAlias = tuple[Span, str]
"""A stretch, and the text to put in its place."""


@dataclass(frozen=True, slots=True)
class Brackets:
    """A bracketed list: where it opens and closes, its items, and the commas after them."""

    opens: int
    closes: int
    items: tuple[Span, ...]
    commas: tuple[int, ...]
    """Offsets of the commas; as many as items when there is a trailing one."""


def brackets_of(node: Bracketed) -> Brackets:
    """The bracketed part of a call or a written-out list."""
    index = scope_of(node).index
    found = index.brackets.get(node)
    if not isinstance(found, Brackets):
        span = index.span(node)
        start = index.span(node.func).end if isinstance(node, ast.Call) else span.start
        found = index.brackets[node] = _scan(index.text, start, span.end)
    return found


def _scan(text: str, start: int, end: int) -> Brackets:
    depth, opens = 0, -1
    commas: list[int] = []
    marks: list[tuple[int, int]] = []
    closes = end - 1
    for sign, first, last in _tokens(text, start, end):
        if depth == 0:
            if sign == "(" or (sign in OPENING and opens < 0):
                depth, opens = 1, first
            continue
        if depth == 1 and sign in CLOSING:
            closes = first
            break
        if depth == 1 and sign == ",":
            commas.append(first)
            continue
        depth += (sign in OPENING) - (sign in CLOSING)
        marks.append((first, last))
    if opens < 0:
        raise NotChangeable("The brackets of a call could not be found.")
    items = [
        list(inside)
        for _, inside in groupby(
            marks,
            key=lambda mark: bisect_right(commas, mark[0]),
        )
    ]
    spans = tuple(
        Span(
            inside[0][0],
            inside[-1][1],
        )
        for inside in items
    )
    return Brackets(opens, closes, spans, tuple(commas))


def _tokens(
    text: str,
    start: int,
    end: int,
) -> Iterator[tuple[str, int, int]]:
    """Tokens of a stretch of text as (sign, start, end); only brackets and commas keep their
    sign.
    """
    piece = text[start:end]
    starts = LineTable(piece).starts
    with suppress(TokenError, IndentationError):
        # Line breaks inside brackets mean nothing: one kind of them keeps the tokenizer's columns
        # simple.
        for token in generate_tokens(io.StringIO(piece, newline="").readline):
            if token.type not in SILENT:
                first, last = (
                    start + starts[line - 1] + column for line, column in (token.start, token.end)
                )
                yield (
                    token.string if token.string in {*OPENING, *CLOSING, ","} else "",
                    first,
                    last,
                )


def inserted(
    node: Bracketed,
    texts: Sequence[str],
    after: int | None,
) -> list[Edit]:
    """The edits that put items after item number `after` (at the end when none, in front when
    -1).
    """
    index = scope_of(node).index
    brackets = brackets_of(node)
    items = brackets.items
    if not items:
        return [
            (
                index.point(brackets.opens + 1),
                ", ".join(texts),
            )
        ]
    number = len(items) - 1 if after is None else after
    joint = _joint(
        index,
        brackets,
        items[max(number, 0)],
    )
    if number < 0:
        return [
            (
                index.point(items[0].start),
                "".join(text + "," + joint for text in texts),
            )
        ]
    if joint != " ":
        return _below(index, brackets, texts, number, joint)
    if number == len(items) - 1 and len(brackets.commas) == len(items):
        return [
            (
                index.point(brackets.commas[-1] + 1),
                " " + ", ".join(texts),
            )
        ]
    return [
        (
            index.point(items[number].end),
            "".join(f", {text}" for text in texts),
        )
    ]


def _below(
    index: FileIndex, brackets: Brackets, texts: Sequence[str], number: int, joint: str
) -> list[Edit]:
    """Items on lines of their own: a comment after an item stays with it."""
    item = brackets.items[number]
    comma = brackets.commas[number] if number < len(brackets.commas) else None
    behind = comma + 1 if comma is not None else item.end
    line_end = min(index.lines.line_end(behind), brackets.closes)
    rest = index.text[behind:line_end].strip()
    if rest and not rest.startswith("#"):
        return [
            (
                index.point(item.end),
                "".join("," + joint + text for text in texts),
            )
        ]
    place = index.point(line_end if rest else behind)
    if comma is not None:
        return [
            (
                place,
                "".join(joint + text + "," for text in texts),
            )
        ]
    return [
        (index.point(item.end), ","),
        (place, ",".join(joint + text for text in texts)),
    ]


def removed(node: Bracketed, number: int) -> Span:
    """The stretch to cut out so that item number `number` is gone with its comma."""
    index = scope_of(node).index
    brackets = brackets_of(node)
    text = index.text
    item = brackets.items[number]
    end = brackets.commas[number] + 1 if number < len(brackets.commas) else item.end
    line_start = text.rfind("\n", 0, item.start) + 1
    if not text[line_start : item.start].strip() and line_start > brackets.opens:
        line_end = min(index.lines.line_end(end), brackets.closes)
        rest = text[end:line_end].strip()
        if (not rest or rest.startswith("#")) and text[line_end : line_end + 1] in "\r\n":
            return Span(
                line_start,
                index.lines.line_end(line_end, behind=True),
                index.path,
            )
    if number + 1 < len(brackets.items):
        return Span(
            item.start,
            brackets.items[number + 1].start,
            index.path,
        )
    if number > 0:
        return Span(
            brackets.commas[number - 1],
            item.end,
            index.path,
        )
    return Span(item.start, end, index.path)


def _joint(index: FileIndex, brackets: Brackets, item: Span) -> str:
    """White space between two items: a line break where every item is on a line of its own."""
    text = index.text
    line_start = max(text.rfind("\n", 0, item.start), text.rfind("\r", 0, item.start)) + 1
    indent = text[line_start : item.start]
    if indent.strip() or line_start <= brackets.opens:
        return " "
    return index.lines.newline + indent


def before_statement(statement: ast.stmt, code: str) -> Edit:
    """The edit that makes `code` run just before a statement."""
    index = scope_of(statement).index
    start = index.span(statement).start
    line_start = index.lines.line_start(start)
    indent = index.text[line_start:start]
    if indent.strip():
        return index.point(start), f"{code}; "
    return index.point(line_start), indent + code + index.lines.newline


def after_statement(statement: ast.stmt, code: str) -> Edit:
    """The edit that makes `code` run just after a statement."""
    index = scope_of(statement).index
    span = index.span(statement)
    lines = index.lines
    line_end = lines.line_end(span.end)
    before = index.text[lines.line_start(span.start) : span.start]
    if before.strip() or index.text[span.end : line_end].strip().startswith(";"):
        return index.point(span.end), f"; {code}"
    # Put at the end of the line rather than at the start of the next: in a notebook that would be
    # another cell.
    return index.point(line_end), lines.newline + before + code


def without_statement(statement: ast.stmt) -> Edit:
    """The edit that takes a statement out; a block is never left empty."""
    index = scope_of(statement).index
    span = index.span(statement)
    text = index.text
    parent, block = index.block_of(statement)
    if len(getattr(parent, block, ())) == 1 and not isinstance(parent, ast.Module):
        return span, "pass"
    line_start = index.lines.line_start(span.start)
    line_end = index.lines.line_end(span.end)
    rest = text[span.end : line_end].strip()
    if not text[line_start : span.start].strip() and (not rest or rest.startswith("#")):
        return Span(
            line_start,
            index.lines.line_end(line_end, behind=True),
            index.path,
        ), ""
    if rest.startswith(";"):
        behind = text[text.index(";", span.end) + 1 :]
        return Span(
            span.start,
            len(text) - len(behind.lstrip(" \t")),
            index.path,
        ), ""
    before = text.rfind(";", line_start, span.start)
    if before >= 0:
        return (Span(before, span.end, index.path), "")
    return (span, "pass")


def available_name(index: FileIndex, dotted: str, line: int) -> str:
    """The shortest name a file has above a line for a canonical library name; empty when it has
    none.
    """
    groups = index.module.bindings.values()
    sure = [
        group for group in groups if all(one.how is How.IMPORT and not one.level for one in group)
    ]
    above = [one for group in sure for one in group if getattr(one.node, "lineno", 0) <= line]
    names = [_name_by(one, dotted) for one in above if index.parents.get(one.node) is index.tree]
    best = min(filter(None, names), key=lambda name: name.count("."), default="")
    home, _, last = dotted.rpartition(".")
    return best or (
        last if any(canonical(star.dotted) == home for star in index.module.stars) else ""
    )


def _name_by(binding: Binding, dotted: str) -> str:
    """`nn.ReLU` for `torch.nn.ReLU` through `import torch.nn as nn`."""
    own = canonical(binding.dotted)
    if own == dotted:
        return binding.name
    if own == "tensorflow" and dotted.startswith("keras."):
        return f"{binding.name}.{dotted}"
    if dotted.startswith(own + "."):
        rest = dotted[len(own) + 1 :]
        # `import torch` gives all of torch.nn and torch.optim; other packages give only what they
        # import.
        reachable = own.startswith(("torch", "keras", "lightning", "sklearn.")) or "." not in rest
        return f"{binding.name}.{rest}" if reachable else ""
    return ""


def import_for(index: FileIndex, dotted: str) -> str:
    """The statement that imports a library object into a file."""
    home, _, name = dotted.rpartition(".")
    tops = {binding.dotted.partition(".")[0] for binding in index.imports}
    if home.startswith("keras") and "tensorflow" in tops and "keras" not in tops:
        home = f"tensorflow.{home}"
    return f"from {home} import {name}"


def put_import(index: FileIndex, statement: str, line: int) -> Edit:
    """The edit that puts an import after the last one at the top of the file that comes before
    a line.
    """
    body = index.tree.body
    starts = index.lines.starts
    newline = index.lines.newline
    head = body[0]
    docstring = (
        [head] if isinstance(head, ast.Expr) and isinstance(head.value, ast.Constant) else []
    )
    tops = [
        *docstring,
        *(one for one in body if isinstance(one, ast.Import | ast.ImportFrom)),
    ]
    last = max((end for one in tops if (end := one.end_lineno or one.lineno) < line), default=0)
    if last == 0:
        return index.point(starts[head.lineno - 1]), statement + newline
    end = starts[last] if last < len(starts) else len(index.text)
    return index.point(len(index.text[:end].rstrip("\r\n"))), newline + statement
