"""Algorithms as converters leave them in Markdown: under a heading, as numbered lines, as one paragraph, as a
table in HTML, with or without their name. What is named and not
read, or read and not named, is reported."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from reenact.intake.papers.assemble import Piece, Prose
from reenact.intake.papers.converted import compact, html_table
from reenact.intake.papers.paper import Algorithm, Lost
from reenact.intake.papers.plain import bare

LONGEST_NAME = 500
LEAST_STEPS = 2
"""Signs of steps, from which on a paragraph is an algorithm although no heading calls it one."""
_NAMED = re.compile(r"(#{1,6}\s+)?\**Algorithm\s+(\d{1,3}|[A-Z]?\.?\d{1,2}|[IVX]{1,4})\b\**[:.]?(?:\s+|$)")
_HEADING = re.compile(r"#{1,6}\s")
_STEP = re.compile(
    r"\s*(?:\d{1,3}\s*:|\**(?:input|require|output|ensure|return|initiali[sz]e|for\b|while|repeat|if\b|else|end\b|parameters?\b))",
    re.I,
)
_OPENS = re.compile(
    r"\s*\**(?:(?:input|output|require|ensure)\b"
    r"|(?:Inputs?|Outputs?|Requires?|Ensures?|Initiali[sz]ation|Parameters?|Return)\**\s*:|\d{1,3}\s*:)"
)
_FLOW = re.compile(
    r"\bend\s?(?:for|while|if)\b|\b(?:for|while)\b[^\n]{1,400}?\bdo\b|\bif\b[^\n]{1,400}?\bthen\b|\brepeat\b"
)
_MATHS = re.compile(r"\$[^$]+\$")
_MENTIONED = re.compile(r"\bAlgorithm\s+(\d{1,2})\b(?!\s+(?:of|by|from)\s)")


def algorithm_at(lines: Sequence[str], at: int) -> tuple[Algorithm, int] | None:
    """The algorithm whose name stands in a line, as far as its steps go, and the line after it. Under a
    heading it is one also without steps."""
    named = _NAMED.match(lines[at][:LONGEST_NAME])
    if not named:
        return None
    own, *others = _runs(lines, at + 1)
    # The name may go on in the next lines; the steps begin with the first that looks like one.
    first = next((line for line in range(*own) if _STEP.match(lines[line])), own[1])
    body, end = list(lines[first : own[1]]), own[1]
    signs = sum(bool(_STEP.match(line)) for line in body)
    for begin, after in others:
        text = "\n".join(lines[begin:after])
        if text.startswith("<table") and not body:
            text = _table_text(text)
        elif not _goes_on(text):
            break
        signs += _signs(text)
        body.append(text)
        end = after
    if signs < (0 if named[1] else LEAST_STEPS):
        return None
    caption = " ".join((lines[at][named.end() :], *lines[at + 1 : first]))
    steps = "\n".join(line.rstrip() for text in body for line in text.split("\n") if line.strip())
    return Algorithm(
        caption=compact(bare(" ".join(caption.split()))), label=named[2], body=compact(steps)
    ), end


def unnamed(text: str) -> Algorithm | None:
    """A paragraph, or a table as HTML, that reads as steps."""
    text = _table_text(text) if text.startswith("<table") else text
    return Algorithm(body=compact(text)) if _OPENS.match(text) and _signs(text) > LEAST_STEPS else None


def doubtful(pieces: Sequence[Piece]) -> Iterator[Lost]:
    """Algorithms without steps or without a name, and those that the text names and nobody read."""
    found = [one for one in pieces if isinstance(one, Algorithm)]
    nameless = [one for one in found if not one.label]
    for one in found:
        if not one.body:
            yield Lost("algorithm", f"Algorithm {one.label} came without its steps.", one.caption[:60])
    words = " ".join(one.text for one in pieces if isinstance(one, Prose))
    missing = sorted(set(_MENTIONED.findall(words)) - {one.label for one in found}, key=int)
    if nameless and missing:
        names = ", ".join(missing)
        what = f"{len(nameless)} came without a name, and the text names Algorithm {names}."
        yield Lost("algorithm", f"Which algorithm is which is not known: {what}", nameless[0].body[:60])
    for number in missing[len(nameless) :]:
        yield Lost("algorithm", f"The text names Algorithm {number}, and no such algorithm was read.")


def _runs(lines: Sequence[str], start: int) -> Iterator[tuple[int, int]]:
    """From where to where lines without an empty one between them go, up to the next heading. The first such
    run may be empty."""
    end = next((at for at in range(start, len(lines)) if _HEADING.match(lines[at])), len(lines))
    if start == end or not lines[start].strip():
        yield start, start
    for filled, run in groupby(range(start, end), key=lambda at: bool(lines[at].strip())):
        listed = list(run)
        if filled:
            yield listed[0], listed[-1] + 1


def _goes_on(text: str) -> bool:
    """Whether a paragraph is steps: it opens as these do, has loops in it, or is nothing but formulas."""
    formulas = not _MATHS.sub("", text).strip(" ,;.\n")
    return formulas or bool(_OPENS.match(text) or _FLOW.search(text))


def _signs(text: str) -> int:
    return bool(_OPENS.match(text)) + len(_FLOW.findall(text))


def _table_text(text: str) -> str:
    rows = html_table(text).rows
    # A cell that spans columns is repeated in each.
    return "\n".join("  ".join(filter(None, dict.fromkeys(row))) for row in rows)
