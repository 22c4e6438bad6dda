r"""Title and authors as a document's own commands give them, where pandoc does not see them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

from reenact.intake.papers.detex import detex, group

MOST_AUTHORS = 500
LONGEST = 2000
_TITLE = re.compile(r"\\(?:icml|neurips|acl)?[tT]itle\*?\s*(?:\[[^\]]{0,300}\])?\s*(?=\{)")
_NAMED = re.compile(r"\\(?:icmlauthor|authorname|IEEEauthorblockN)\s*(?=\{)")
_NOTES = re.compile(
    r"\\(?:thanks|footnote|footnotemark|textsuperscript|inst|orcidID|email)\s*(?:\[[^\]]{0,40}\])?\s*(?=\{)"
)


def title_in(text: str) -> str:
    """The title; empty when there is none."""
    found = _TITLE.search(text)
    return detex(_without_notes(group(text, found.end(), LONGEST)[0])) if found else ""


def authors_in(text: str) -> Iterator[str]:
    """Authors that have a command of their own each."""
    for found in itertools.islice(_NAMED.finditer(text), MOST_AUTHORS):
        inner = _without_notes(group(text, found.end(), LONGEST)[0])
        for name in re.split(r",|\\and\b|\band\b", inner):
            words = detex(name).strip(" *†‡")
            if words:
                yield words


def _without_notes(text: str) -> str:
    parts: list[str] = []
    at = 0
    while found := _NOTES.search(text, at):
        parts.append(text[at : found.start()])
        at = group(text, found.end())[1]
    return "".join((*parts, text[at:]))
