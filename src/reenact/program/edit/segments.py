"""What stands between brackets: arguments of a call, elements of a list, each with its comma. Insert and
remove them so that the rest of the text, its line breaks and comments, stays as it is."""

import ast
import io
import re
import tokenize
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from reenact.errors import NotChangeable
from reenact.program.read.index import FileIndex
from reenact.program.source import Span

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")
SILENT = (
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.COMMENT,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


@dataclass(frozen=True, slots=True)
class Brackets:
    """A bracketed list: where it opens and closes, its items, and the commas after them."""

    opens: int
    closes: int
    items: tuple[Span, ...]
    commas: tuple[int, ...]
    """Offsets of the commas; as many as items when there is a trailing one."""


def brackets_of(index: FileIndex, node: ast.Call | ast.List | ast.Tuple) -> Brackets:
    """The bracketed part of a call or a written-out list."""
    known = index.brackets.get(node)
    if isinstance(known, Brackets):
        return known
    span = index.span(node)
    start = index.span(node.func).end if isinstance(node, ast.Call) else span.start
    found = _scan(index.text, start, span.end)
    index.brackets[node] = found
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
    return Brackets(opens, closes, _items(marks, commas), tuple(commas))


def _items(marks: list[tuple[int, int]], commas: list[int]) -> tuple[Span, ...]:
    groups = groupby(marks, key=lambda mark: bisect_right(commas, mark[0]))
    items = [list(inside) for _, inside in groups]
    return tuple(Span(inside[0][0], inside[-1][1]) for inside in items)


def _tokens(text: str, start: int, end: int) -> list[tuple[str, int, int]]:
    """Tokens of a stretch of text as (sign, start, end); only brackets and commas keep their sign."""
    piece = text[start:end]
    starts = [0, *(match.end() for match in re.finditer(r"\r\n|\r|\n", piece))]
    found = []
    try:
        # Line breaks inside brackets mean nothing: one kind of them keeps the tokenizer's columns simple.
        for token in tokenize.generate_tokens(io.StringIO(piece, newline="").readline):
            if token.type in SILENT:
                continue
            first = start + starts[token.start[0] - 1] + token.start[1]
            last = start + starts[token.end[0] - 1] + token.end[1]
            sign = token.string if token.string in {*OPENING, *CLOSING, ","} else ""
            found.append((sign, first, last))
    except (tokenize.TokenError, IndentationError):
        pass
    return found


def inserted(
    index: FileIndex, node: ast.Call | ast.List | ast.Tuple, texts: Sequence[str], after: int | None
) -> list[tuple[Span, str]]:
    """The edits that put items behind item number `after` (at the end when none, in front when -1)."""
    brackets = brackets_of(index, node)
    items = brackets.items
    if not items:
        return [(Span(brackets.opens + 1, brackets.opens + 1), ", ".join(texts))]
    number = len(items) - 1 if after is None else after
    if number < 0:
        first = items[0]
        joint = _joint(index, brackets, first)
        return [(Span(first.start, first.start), "".join(text + "," + joint for text in texts))]
    joint = _joint(index, brackets, items[number])
    if joint != " ":
        return _below(index, brackets, texts, number, joint)
    if number == len(items) - 1 and len(brackets.commas) == len(items):
        behind = brackets.commas[-1] + 1
        return [(Span(behind, behind), " " + ", ".join(texts))]
    return [(Span(items[number].end, items[number].end), "".join(f", {text}" for text in texts))]


def _below(
    index: FileIndex, brackets: Brackets, texts: Sequence[str], number: int, joint: str
) -> list[tuple[Span, str]]:
    """Items on lines of their own: a comment behind an item stays with it."""
    item = brackets.items[number]
    comma = brackets.commas[number] if number < len(brackets.commas) else None
    behind = comma + 1 if comma is not None else item.end
    line_end = min(index.lines.line_end(behind), brackets.closes)
    rest = index.text[behind:line_end].strip()
    if rest and not rest.startswith("#"):
        return [(Span(item.end, item.end), "".join("," + joint + text for text in texts))]
    place = line_end if rest else behind
    if comma is not None:
        return [(Span(place, place), "".join(joint + text + "," for text in texts))]
    more = ",".join(joint + text for text in texts)
    return [(Span(item.end, item.end), ","), (Span(place, place), more)]


def removed(index: FileIndex, node: ast.Call | ast.List | ast.Tuple, number: int) -> Span:
    """The stretch to cut out so that item number `number` is gone with its comma."""
    text, brackets = index.text, brackets_of(index, node)
    item = brackets.items[number]
    comma = brackets.commas[number] + 1 if number < len(brackets.commas) else None
    end = comma if comma is not None else item.end
    line_start = text.rfind("\n", 0, item.start) + 1
    if not text[line_start : item.start].strip() and line_start > brackets.opens:
        line_end = min(index.lines.line_end(end), brackets.closes)
        rest = text[end:line_end]
        if (not rest.strip() or rest.strip().startswith("#")) and text[line_end : line_end + 1] in "\r\n":
            return Span(line_start, index.lines.next_line(line_end))
    if number + 1 < len(brackets.items):
        return Span(item.start, brackets.items[number + 1].start)
    if number > 0:
        return Span(brackets.commas[number - 1], item.end)
    return Span(item.start, end)


def _joint(index: FileIndex, brackets: Brackets, item: Span) -> str:
    """White space between two items: a line break where every item stands on a line of its own."""
    text = index.text
    line_start = max(text.rfind("\n", 0, item.start), text.rfind("\r", 0, item.start)) + 1
    indent = text[line_start : item.start]
    if indent.strip() or line_start <= brackets.opens:
        return " "
    return index.lines.newline + indent
