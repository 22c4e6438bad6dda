"""One file of a program: bytes read with caps, decoded as Python would, or a reason why it cannot
be used.

Covered: missing, too large, NUL bytes, wrong encodings, unknown coding cookies, symbolic links out
of the folder. Its syntax tree, or the reason why there is none. Nothing here runs or imports the
file.
"""

import ast
import io
import re
import tokenize
import warnings
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import takewhile
from pathlib import Path, PurePosixPath

from reenact.files import read_start
from reenact.types import Place

MAX_FILE_BYTES = 1_000_000
"""A hand-written source is far smaller; a literal list of this size still parses in a second."""


class Language(StrEnum):
    """What a file is written in."""

    PYTHON = "python"
    NOTEBOOK = "notebook"
    YAML = "yaml"
    JSON = "json"


_YAML = dict.fromkeys((".yaml", ".yml"), Language.YAML)
SUFFIXES = {
    ".py": Language.PYTHON,
    ".ipynb": Language.NOTEBOOK,
    ".json": Language.JSON,
    **_YAML,
}


@dataclass(frozen=True)
class SourceFile:
    """The text of one file, exactly as it is on disk."""

    path: PurePosixPath
    """Relative to the program's folder."""
    text: str
    """Decoded, line ends kept, without the byte-order mark."""
    language: Language = Language.PYTHON
    encoding: str = "utf-8"
    bom: bool = False
    unparsed: str = ""
    """Why this file could not be used; empty when it could."""

    @cached_property
    def raw(self) -> str:
        """The text with its byte-order mark: what a diff must be made of."""
        return "\ufeff" + self.text if self.bom else self.text

    def encode(self) -> bytes:
        return self.raw.encode(self.encoding)


def language_of(path: PurePosixPath | Path) -> Language | None:
    return SUFFIXES.get(path.suffix.lower())


def read_source(folder: Path, path: PurePosixPath) -> SourceFile:
    """Read one file; what is wrong with it becomes `unparsed`, never an exception."""
    language = language_of(path) or Language.PYTHON
    try:
        raw = read_start(folder / path, MAX_FILE_BYTES + 1)
    except OSError as error:
        return SourceFile(
            path,
            "",
            language,
            unparsed=f"cannot be read: {error.strerror or error}",
        )
    if len(raw) > MAX_FILE_BYTES:
        return SourceFile(
            path,
            "",
            language,
            unparsed=f"larger than {MAX_FILE_BYTES:,} bytes",
        )
    return decode(path, raw, language)


def decode(path: PurePosixPath, raw: bytes, language: Language = Language.PYTHON) -> SourceFile:
    """Text from bytes, by the coding cookie for Python and as UTF-8 for everything else."""
    if b"\0" in raw:
        return SourceFile(path, "", language, unparsed="UTF-16 or binary: holds NUL bytes")
    bom = raw.startswith(b"\xef\xbb\xbf")
    body = raw[3:] if bom else raw
    try:
        plain = bom or language is not Language.PYTHON
        encoding = "utf-8" if plain else tokenize.detect_encoding(io.BytesIO(raw).readline)[0]
        text = body.decode(encoding)
    except (UnicodeDecodeError, SyntaxError, LookupError) as error:
        return SourceFile(
            path, "", language, unparsed=f"not text in its encoding: {str(error)[:120]}"
        )
    return SourceFile(path, text, language, encoding, bom)


NEWLINE = re.compile(r"\r\n|\r|\n")
"""What Python counts as the end of a line; `str.splitlines` counts more."""


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of one file's text: character offsets, the end is exclusive."""

    start: int
    end: int
    file: str = ""
    """Path in the program; empty where one text alone is looked at."""

    def cut(self, text: str) -> str:
        return text[self.start : self.end]


class LineTable:
    """Where each line of a text begins."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [
            0,
            *(match.end() for match in NEWLINE.finditer(text)),
        ]
        self._ascii = text.isascii()

    def offset(self, line: int, column: int) -> int:
        """Offset of a parser position: lines from 1, columns in bytes of UTF-8."""
        start = self.starts[line - 1]
        if self._ascii:
            return start + column
        end = self.starts[line] if line < len(self.starts) else len(self.text)
        head = self.text[start:end].encode(
            "utf-8",
            "surrogatepass",
        )[:column]
        return start + len(head.decode("utf-8", "ignore"))

    def span(
        self,
        node: ast.expr | ast.stmt | ast.arg | ast.keyword,
        file: str = "",
    ) -> Span:
        """The text a node was parsed from."""
        end_line = node.end_lineno or node.lineno
        end_column = node.end_col_offset or node.col_offset
        return Span(
            self.offset(node.lineno, node.col_offset),
            self.offset(end_line, end_column),
            file,
        )

    def line_column(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self.starts, offset)
        return line, offset - self.starts[line - 1]

    def place(self, file: PurePosixPath, span: Span) -> Place:
        line, column = self.line_column(span.start)
        end_line, end_column = self.line_column(span.end)
        return Place(file, line, column, end_line, end_column)

    def line_start(self, offset: int) -> int:
        return self.starts[self.line_column(offset)[0] - 1]

    def line_end(self, offset: int, *, behind: bool = False) -> int:
        """Where the line break after an offset is, or what is after it begins."""
        found = NEWLINE.search(self.text, offset)
        if not found:
            return len(self.text)
        return found.end() if behind else found.start()

    def indent(self, offset: int) -> str:
        """The white space at the beginning of the line that holds this offset."""
        line = self.text[self.line_start(offset) : self.line_end(offset)]
        return line[: len(line) - len(line.lstrip(" \t\f"))]

    @property
    def newline(self) -> str:
        """The line end this file uses."""
        found = NEWLINE.search(self.text)
        return found.group() if found else "\n"


def shared_end(one: PurePosixPath, other: PurePosixPath) -> int:
    """How many last parts two paths share."""
    pairs = zip(one.parts[::-1], other.parts[::-1], strict=False)
    return sum(
        1
        for _ in takewhile(
            lambda pair: pair[0] == pair[1],
            pairs,
        )
    )


def words(text: str) -> tuple[str, ...]:
    """The words of a text."""
    return tuple(text.split())


PYTHON_2 = re.compile(
    r"^\s*((print|exec)\s+[\"'\w]|raise\s+\w+\s*,|except\s+\w+\s*,\s*\w+\s*:)", re.M
)


class Unparsable(ValueError):
    """Not Python that we can read; the text says why in a few words."""


def parse(text: str, *, top_level_await: bool = False) -> ast.Module:
    """The syntax tree of a module; raises Unparsable and nothing else."""
    flags = ast.PyCF_ONLY_AST | (ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if top_level_await else 0)
    with warnings.catch_warnings():
        # Invalid escapes in somebody's source are theirs to fix, not a line on our stderr.
        warnings.simplefilter("ignore")
        try:
            tree = _compiled(text, flags)
        except SyntaxError as error:
            why = f"line {error.lineno}: {error.msg}"
            old = PYTHON_2.search(text)
            raise Unparsable(f"written for Python 2 ({why})" if old else why) from error
        except (RecursionError, MemoryError) as error:
            raise Unparsable("nested too deeply for the parser") from error
        except ValueError as error:
            raise Unparsable(str(error)[:120]) from error
    assert isinstance(tree, ast.Module)
    return tree


def _compiled(text: str, flags: int) -> object:
    try:
        return compile(text, "<program>", "exec", flags, dont_inherit=True)
    except SystemError:
        # Python 3.11 counts the depth of all syntax trees that are made at once in one number, and
        # takes a tree of another thread or of a finalizer for a mistake. The next attempt begins to
        # count afresh.
        return compile(text, "<program>", "exec", flags, dont_inherit=True)
