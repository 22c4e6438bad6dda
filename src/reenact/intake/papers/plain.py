"""Plain text -> Draft: paragraphs by empty lines, headings by their numbers or their shape."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from reenact.intake.papers.markdown_table import captioned
from reenact.intake.papers.pieces import Draft, Heading, Piece, Prose
from reenact.intake.papers.reference_text import HEADINGS, keyed

LONGEST_HEADING = 90
_NUMBERED = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-H](?:\.\d{1,2}){1,3})[.)]?\s+(?P<title>[A-Z](?:[^.!?]|[.!?](?=\S))*)$"
)
_KNOWN = re.compile(
    r"^(?:abstract|introduction|background|related work|method(?:s|ology)?|approach|experiments?(?:al setup)?"
    r"|results?|discussion|conclusions?|limitations|acknowledge?ments?|appendix(?: [A-Z])?|evaluation"
    r"|implementation details)\s*[:.]?$",
    re.I,
)
_ENTRY = re.compile(r"^\s*(?:\[[^\[\]\s]{1,40}\]|\d{1,3}\.)\s+\S")
_HYPHEN = re.compile(r"(?<=[a-z]-)[ \t]*\n[ \t]*(?=[a-z])")


def read_plain(text: str, name: str) -> Draft:
    """The paper in a plain text; its first paragraph, when short, is the title."""
    pieces, references = shaped(re.split(r"\n[ \t]*\n", text))
    title = ""
    if pieces and isinstance(pieces[0], Prose) and len(pieces[0].text) < 200 and len(pieces) > 1:
        title, pieces = pieces[0].text, pieces[1:]
    return Draft(
        "text",
        tuple(captioned(pieces)),
        title=title,
        references=tuple(keyed(entry, number) for number, entry in enumerate(references, start=1)),
        texts={name: text},
    )


def shaped(paragraphs: Iterable[str]) -> tuple[list[Piece], list[str]]:
    """Headings and prose, and the entries of the bibliography; a heading may begin its paragraph."""
    pieces: list[Piece] = []
    entries: list[str] = []
    inside = False
    for paragraph in paragraphs:
        first, _, rest = paragraph.strip().partition("\n")
        heading = heading_of(first)
        if heading is not None:
            inside = heading.title.strip(" .:").casefold() in HEADINGS
            pieces += [] if inside else [heading]
        body = paragraph.strip() if heading is None else rest
        text = " ".join(_HYPHEN.sub("", body).split())
        if inside:
            entries += _entries(body)
        elif text:
            pieces.append(Prose(text))
    return pieces, entries


def heading_of(line: str) -> Heading | None:
    """The heading that a line is: numbered, or one of the usual words."""
    line = line.strip()
    if not 3 <= len(line) <= LONGEST_HEADING:
        return None
    numbered = _NUMBERED.match(line)
    if numbered:
        number = numbered["number"]
        return Heading(number.count(".") + 1, numbered["title"].strip(), appendix=number[0].isalpha())
    if _KNOWN.match(line) or line.strip(" .:").casefold() in HEADINGS:
        return Heading(1, line.strip(" .:").capitalize(), appendix=line.casefold().startswith("appendix"))
    return None


def _entries(paragraph: str) -> Iterator[str]:
    """Entries of the bibliography: one a paragraph, or each beginning with its number."""
    entry: list[str] = []
    for line in paragraph.strip().split("\n"):
        if _ENTRY.match(line) and entry:
            yield " ".join(entry)
            entry = []
        entry.append(line)
    if any(line.strip() for line in entry):
        yield " ".join(entry)
