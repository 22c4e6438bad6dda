"""Sources written for a newer Python than ours: the new syntax is blanked, everything else keeps its place.

Only what no hyperparameter lives in is blanked: f-strings, type parameters, `type` statements. Lengths never
change, so every position in the blanked text is a position in the original. libcst knows the newest grammar;
it is kept away from large and deeply nested files, which can exhaust its memory or its stack.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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

    from reenact.program.lines import LineTable

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
