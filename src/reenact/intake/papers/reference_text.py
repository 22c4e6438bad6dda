"""An entry of a bibliography as it is printed -> Reference, as far as its words tell."""

from __future__ import annotations

import re

from reenact.intake.papers.paper import Reference

LONGEST = 4000
HEADINGS = frozenset(
    ["references", "bibliography", "literature", "works cited", "literature cited", "reference list"]
)
"""Titles of the section that is the bibliography, in small letters."""
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^\[\]`]{1,200}")
_ARXIV = re.compile(
    r"(?:arxiv(?:\.org/(?:abs|pdf|html)/|\s*preprint\s*arxiv:|[:\s]+|\s+abs/)|abs/)\s*"
    r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>\"{}|\\^`]{3,500}")
_YEAR = re.compile(r"(?<![\d.:/-])((?:19|20)\d{2})[a-z]?(?![\d/])(?!\.\d)")
_QUOTED = re.compile(r"[“\"]([^“”\"]{8,300}?)[,.]?[”\"]")
_ITALIC = re.compile(r"\*([^*]{8,300})\*")
# A full stop after a single letter is an initial's, not the end of the authors.
_PART = re.compile(r"(?<=[^\W_]{2})\.\s+|(?<=\))[.,]?\s+|(?<=[?!])\s+|(?<=[’'”\"])\.\s+")
_SURNAME_FIRST = re.compile(
    r"([^\W\d_][\w'’ -]{0,40}),\s*((?:[^\W\d_]\.[\s~-]*){1,4})(?=,|;|\band\b|&|$|\s*\()"
)
_NUMBERED = re.compile(
    r"^\s*(?:\[(?P<key>[^\[\]\s]{1,40})\]:?|(?P<number>\d{1,4})[.)])\s+(?P<text>\S.*)$", re.S
)
_NAMED = re.compile(r"^\s*\[?@(?P<key>[^\s\]:;,]{1,80})\]?[:.]?\s+(?P<text>\S.*)$", re.S)


def reference_of(key: str, text: str) -> Reference:
    """What an entry says about what it names."""
    text = " ".join(text[:LONGEST].split())
    doi, arxiv, url = _DOI.search(text), _ARXIV.search(text), _URL.search(text)
    years = _YEAR.findall(_URL.sub(" ", text))
    names, title = _parts(text)
    return Reference(
        key=key,
        text=text,
        title=title,
        authors=authors_of(names),
        year=int(years[-1]) if years else None,
        arxiv=arxiv["id"] if arxiv else "",
        doi=doi[0].rstrip(".,;)") if doi else "",
        url=url[0].rstrip(".,;)") if url else "",
    )


def keyed(text: str, number: int) -> Reference:
    """An entry that may begin with its key (`[3]`, `3.`, `@key:`); else it has its number."""
    found = _NAMED.match(text) or _NUMBERED.match(text)
    if not found:
        return reference_of(str(number), text)
    key = found.groupdict().get("key") or found.groupdict().get("number") or str(number)
    return reference_of(key.lstrip("@"), found["text"])


def authors_of(names: str) -> tuple[str, ...]:
    """Names one by one, given names first."""
    names = re.sub(r"\bet al\b\.?|\(?\b(?:19|20)\d{2}[a-z]?\)?|\beds?\.", " ", names).strip(" ,;:")
    turned = [
        f"{given.strip()} {surname.strip()}"
        for surname, given in _SURNAME_FIRST.findall(names.rstrip(". ") + ".")
    ]
    if turned:
        return tuple(re.sub(r"^(?:and|&)\s+", "", name) for name in turned)
    parts = re.split(r"\s*(?:,\s*and\s|;|,|\band\b|&)\s*", names.rstrip(" ."))
    return tuple(part for part in parts if re.search(r"[^\W\d_]{2}", part) and len(part) < 60)


def _parts(text: str) -> tuple[str, str]:
    """The authors and the title."""
    quoted = _QUOTED.search(text) or _ITALIC.search(text)
    if quoted and quoted.start() > 3:
        return text[: quoted.start()], quoted[1].strip(" .,")
    parts = [part.strip() for part in _PART.split(text) if part and part.strip()]
    for part in parts[1:]:
        if not re.fullmatch(r"\(?(?:19|20)\d{2}[a-z]?\)?[.,]?", part) and len(part) > 3:
            return parts[0], part.strip(' .,“”"*')
    return "", ""
