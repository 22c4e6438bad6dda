"""Pieces of text put in and taken out so that the rest, its line breaks and comments, stays as it is: items
between brackets, each with its comma; statements; and the imports that a library name needs where a file has
none for it."""

import ast
import io
import tokenize
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from reenact.errors import NotChangeable
from reenact.program.read.index import FileIndex
from reenact.program.read.scope import Binding, How
from reenact.program.read.vocabulary import canonical
from reenact.program.source import LineTable, Span

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
    piece, found = text[start:end], []
    starts = LineTable(piece).starts
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


def before_statement(index: FileIndex, statement: ast.stmt, code: str) -> tuple[Span, str]:
    """The edit that makes `code` run just before a statement."""
    start = _start(index, statement)
    line_start = index.lines.line_start(start)
    if index.text[line_start:start].strip():
        return Span(start, start), f"{code}; "
    indent = index.text[line_start:start]
    return Span(line_start, line_start), "".join(
        indent + line + index.lines.newline for line in code.split("\n")
    )


def after_statement(index: FileIndex, statement: ast.stmt, code: str) -> tuple[Span, str]:
    """The edit that makes `code` run just after a statement."""
    end = index.span(statement).end
    line_end = index.lines.line_end(end)
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
    parent, block = index.block_of(statement)
    if len(getattr(parent, block, ())) == 1 and not isinstance(parent, ast.Module):
        return span, "pass"
    line_start, line_end = index.lines.line_start(span.start), index.lines.line_end(span.end)
    rest = index.text[span.end : line_end].strip()
    if not index.text[line_start : span.start].strip() and (not rest or rest.startswith("#")):
        return Span(line_start, index.lines.next_line(line_end)), ""
    if rest.startswith(";"):
        after = index.text.index(";", span.end) + 1
        while index.text[after : after + 1] in (" ", "\t"):
            after += 1
        return Span(span.start, after), ""
    before = index.text.rfind(";", line_start, span.start)
    return (Span(before, span.end), "") if before >= 0 else (span, "pass")


def _start(index: FileIndex, statement: ast.stmt) -> int:
    decorators = getattr(statement, "decorator_list", [])
    if decorators:
        return index.span(decorators[0]).start - 1
    return index.span(statement).start


def _on_header_line(index: FileIndex, statement: ast.stmt) -> bool:
    """`for x in y: step()`: the block stands on the line of its header."""
    parent = index.parents.get(statement)
    if not isinstance(parent, ast.stmt) or isinstance(parent, ast.ClassDef | ast.Module):
        return False
    start = index.lines.line_start(_start(index, statement))
    before = index.text[start : _start(index, statement)]
    return bool(before.strip()) and parent.lineno <= statement.lineno and ":" in before


class Imports:
    """Names that files have, and imports they will need."""

    def __init__(self) -> None:
        self.needed: dict[tuple[str, str], tuple[FileIndex, int]] = {}
        """(file, import line) to where it must stand at the latest."""

    def name_for(self, dotted: str, index: FileIndex, near: ast.AST) -> str:
        """The shortest name this file has for a canonical library name, valid at `near`."""
        outside = [part for part in (near, *index.ancestors(near)) if isinstance(part, ast.stmt)]
        line = outside[-1].lineno
        best = ""
        for binding in _available(index, line):
            name = _name_by(binding, dotted)
            if name and (not best or name.count(".") < best.count(".")):
                best = name
        for star in index.module.stars:
            home, _, last = dotted.rpartition(".")
            if canonical(star.dotted) == home and not best:
                best = last
        return best or self._added(dotted, index, line)

    def _added(self, dotted: str, index: FileIndex, line: int) -> str:
        home, _, name = dotted.rpartition(".")
        tops = {binding.dotted.partition(".")[0] for binding in index.imports}
        if home.startswith("keras") and "tensorflow" in tops and "keras" not in tops:
            home = f"tensorflow.{home}"
        statement = f"from {home} import {name}"
        key = (index.path, statement)
        earlier = self.needed.get(key)
        self.needed[key] = (index, min(line, earlier[1]) if earlier is not None else line)
        return name

    def edits(self) -> Iterator[tuple[str, Span, str]]:
        """Where the added imports go: behind the last import before they are needed."""
        for (file, statement), (index, line) in self.needed.items():
            place, first = _place(index, line)
            newline = index.lines.newline
            yield file, Span(place, place), statement + newline if first else newline + statement


def _available(index: FileIndex, line: int) -> Iterator[Binding]:
    for bindings in index.module.bindings.values():
        imports = [binding for binding in bindings if binding.how is How.IMPORT and not binding.level]
        if len(imports) != len(bindings):
            continue
        for binding in imports:
            if getattr(binding.node, "lineno", 0) <= line and index.parents.get(binding.node) is index.tree:
                yield binding


def _name_by(binding: Binding, dotted: str) -> str:
    """`nn.ReLU` for `torch.nn.ReLU` through `import torch.nn as nn`."""
    own = canonical(binding.dotted)
    if own == dotted:
        return binding.name
    if own == "tensorflow" and dotted.startswith("keras."):
        return f"{binding.name}.{dotted}"
    if dotted.startswith(own + "."):
        rest = dotted[len(own) + 1 :]
        # `import torch` gives all of torch.nn and torch.optim; other packages give only what they import.
        reachable = own.startswith(("torch", "keras", "lightning", "sklearn.")) or "." not in rest
        return f"{binding.name}.{rest}" if reachable else ""
    return ""


def _place(index: FileIndex, line: int) -> tuple[int, bool]:
    """The end of the last import at the top of the file that comes before a line; true: its very
    beginning."""
    last = 0
    body = index.tree.body
    for number, statement in enumerate(body):
        docstring = (
            number == 0 and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        )
        end = statement.end_lineno or statement.lineno
        if end < line and (isinstance(statement, ast.Import | ast.ImportFrom) or docstring):
            last = end
    starts = index.lines.starts
    if last == 0:
        first = next((node.lineno for node in body), 1)
        return starts[first - 1], True
    end = starts[last] if last < len(starts) else len(index.text)
    return len(index.text[:end].rstrip("\r\n")), False
