"""Python text to a syntax tree, or the reason why there is none.

The standard parser reads (5 ms for 300 lines, and it refuses hostile nesting with an exception). libcst, a
hundred times dearer and written so that deep nesting overflows its stack, is asked only when a file may be
written for a newer Python than the one that runs us; see `newer.py`.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

from reenact.program.source import LineTable

PYTHON_2 = re.compile(
    r"^\s*(print\s+[\"'\w]|exec\s+[\"'\w]|raise\s+\w+\s*,|except\s+\w+\s*,\s*\w+\s*:)", re.M
)


class Unparsable(ValueError):
    """Not Python that we can read; the text says why in a few words."""


def parse(text: str, *, top_level_await: bool = False) -> ast.Module:
    """The syntax tree of a module; raises Unparsable and nothing else."""
    try:
        return _parse(text, top_level_await)
    except SyntaxError as error:
        newer = masked(text)
        if newer is None:
            raise Unparsable(_why(error, text)) from error
    try:
        return _parse(newer, top_level_await)
    except SyntaxError as error:
        raise Unparsable(_why(error, text)) from error


def _parse(text: str, top_level_await: bool) -> ast.Module:
    flags = ast.PyCF_ONLY_AST | (ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if top_level_await else 0)
    with warnings.catch_warnings():
        # Invalid escapes in somebody's source are theirs to fix, not a line on our stderr.
        warnings.simplefilter("ignore")
        try:
            tree = compile(text, "<program>", "exec", flags, dont_inherit=True)
        except (RecursionError, MemoryError) as error:
            raise Unparsable("nested too deeply for the parser") from error
        except ValueError as error:
            raise Unparsable(str(error)[:120]) from error
    assert isinstance(tree, ast.Module)
    return tree


def _why(error: SyntaxError, text: str) -> str:
    if PYTHON_2.search(text):
        return f"written for Python 2 (line {error.lineno}: {error.msg})"
    return f"line {error.lineno}: {error.msg}"


MAX_CHARACTERS = 100_000
MAX_LINES = 3_000
MAX_LINE = 2_000
MAX_DEPTH = 60
MAX_ELIFS = 200

NEW_SYNTAX = re.compile(
    r"""\b[fFrRtT]{1,2}['"]          # f-strings may hold their own quotes since 3.12, t-strings since 3.14
    | ^\s*type\s+\w+                 # type statement
    | \b(def|class)\s+\w+\s*\[       # type parameters
    """,
    re.VERBOSE | re.MULTILINE,
)


def masked(text: str) -> str | None:
    """The text with newer syntax blanked, of the same length; none when that is not what is wrong with it."""
    if not NEW_SYNTAX.search(text) or not _safe(text):
        return None
    import libcst as cst
    from libcst.metadata import MetadataWrapper, PositionProvider

    try:
        wrapper = MetadataWrapper(cst.parse_module(text), unsafe_skip_copy=True)
        positions = wrapper.resolve(PositionProvider)
    except (cst.ParserSyntaxError, RecursionError):
        return None
    table = LineTable(text)
    blanked, done = text, 0
    for position, kind in sorted(
        (
            (position.start.line, position.start.column, position.end.line, position.end.column),
            type(node).__name__,
        )
        for node, position in positions.items()
    ):
        start = table.starts[position[0] - 1] + position[1]
        end = table.starts[position[2] - 1] + position[3]
        if kind in BLANKS and start >= done:
            blanked = blanked[:start] + BLANKS[kind](text[start:end]) + blanked[end:]
            done = end
    return blanked if blanked != text else None


def _safe(text: str) -> bool:
    lines = text.split("\n")
    return (
        len(text) <= MAX_CHARACTERS
        and len(lines) <= MAX_LINES
        and max(map(len, lines)) <= MAX_LINE
        and text.count("elif") <= MAX_ELIFS
        and _depth(text) <= MAX_DEPTH
    )


def _depth(text: str) -> int:
    """Upper bound of the bracket depth: brackets in strings and comments are counted too."""
    deepest = depth = 0
    for character in text:
        if character in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in ")]}":
            depth = max(0, depth - 1)
    return deepest


def _spaces(piece: str) -> str:
    return re.sub(r"[^\r\n]", " ", piece)


def _zero(piece: str) -> str:
    return "0" + _spaces(piece[1:])


def _plain_string(piece: str) -> str:
    """A raw string with the same quotes and length, its content blank."""
    prefix = re.match(r"[a-zA-Z]*", piece)
    assert prefix is not None
    length = len(prefix.group())
    quote = piece[length : length + 3] if piece[length : length + 3] in ('"""', "'''") else piece[length]
    body = piece[length + len(quote) : len(piece) - len(quote)]
    lead = {0: "", 1: "r", 2: "br"}[length]
    return lead + quote + _spaces(body) + quote


BLANKS: dict[str, Callable[[str], str]] = {
    "FormattedString": _plain_string,
    "TemplatedString": _plain_string,
    "TypeParameters": _spaces,
    "TypeAlias": _zero,
}
