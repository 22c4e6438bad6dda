"""From the parser's lines and bytes to offsets in the text, and back to places."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import PurePosixPath

from reenact.types import Place

NEWLINE = re.compile(r"\r\n|\r|\n")
"""What Python counts as the end of a line; `str.splitlines` counts more."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one file's text: character offsets, the end is exclusive."""

    start: int
    end: int

    def touches(self, other: Span) -> bool:
        """True when both hold a common character, or one lies inside the other."""
        return self.start < other.end and other.start < self.end


class LineTable:
    """Where each line of a text begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
        self._ascii = text.isascii()

    def offset(self, line: int, column: int) -> int:
        """Offset of a parser position: lines from 1, columns in bytes of UTF-8."""
        start = self.starts[line - 1]
        if self._ascii:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        head = self.text[start:end].encode("utf-8", "surrogatepass")[:column]
        return start + len(head.decode("utf-8", "ignore"))

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> Span:
        """The text a node was parsed from."""
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or node.col_offset
        return Span(self.offset(node.lineno, node.col_offset), self.offset(end_line, end_column))

    def line_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]

    def place(self, file: PurePosixPath, span: Span) -> Place:
        line, column = self.line_column(span.start)
        end_line, end_column = self.line_column(span.end)
        return Place(file, line, column, end_line, end_column)

    def indent(self, offset: int) -> str:
        """The white space at the beginning of the line that holds this offset."""
        start = self.starts[self.line_column(offset)[0] - 1]
        end = start
        while end < len(self.text) and self.text[end] in " \t\f":
            end += 1
        return self.text[start:end]

    @property
    def newline(self) -> str:
        """The line end this file uses."""
        found = NEWLINE.search(self.text)
        return found.group() if found else "\n"
