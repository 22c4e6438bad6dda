"""Statements put in and taken out, and how a file can call a library object: by a name it has, or by one that
an import is added for."""

import ast
from collections.abc import Iterator

from reenact.program.read.functions import block_of
from reenact.program.read.index import FileIndex
from reenact.program.read.scope import Binding, How
from reenact.program.read.sources import Sources
from reenact.program.read.vocabulary import canonical
from reenact.program.source import Span


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
    parent, block = block_of(index, statement)
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

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
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
