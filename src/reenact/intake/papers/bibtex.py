"""BibTeX -> References. An entry that is broken costs itself only."""

from __future__ import annotations

import re
from collections.abc import Iterator

from reenact.intake.papers.detex import detex, group
from reenact.intake.papers.paper import Reference
from reenact.intake.papers.reference_text import reference_of

MOST_ENTRIES = 20_000
LONGEST_ENTRY = 40_000
_ENTRY = re.compile(r"^[ \t]*@([A-Za-z]+)\s*\{", re.M)
_KEY = re.compile(r"\s*([^\s,{}]{1,200})\s*,")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w-]{0,40})\s*=\s*")
_WORD = re.compile(r"\w{1,100}")
_NO_ENTRY = ("comment", "string", "preamble")
_SHOWN = (
    "booktitle",
    "journal",
    "journaltitle",
    "publisher",
    "school",
    "institution",
    "howpublished",
    "note",
)


def read_bibtex(text: str) -> Iterator[Reference]:
    """Every entry, in order."""
    words = dict(_strings(text))
    starts = list(_ENTRY.finditer(text))[:MOST_ENTRIES]
    ends = [*(found.start() for found in starts[1:]), len(text)]
    for found, end in zip(starts, ends, strict=False):
        if found[1].lower() in _NO_ENTRY:
            continue
        body = text[found.end() : min(end, found.end() + LONGEST_ENTRY)]
        key = _KEY.match(body)
        if key:
            yield _reference(key[1], dict(_fields(body[key.end() :], words)))


def _strings(text: str) -> Iterator[tuple[str, str]]:
    """Abbreviations: `@string{icml = "..."}`."""
    for found in re.finditer(
        r"@string\s*\{\s*(\w{1,60})\s*=\s*(?:\"([^\"\n]{0,300})\"|\{([^{}\n]{0,300})\})", text, re.I
    ):
        yield found[1].lower(), found[2] or found[3] or ""


def _fields(body: str, words: dict[str, str]) -> Iterator[tuple[str, str]]:
    at = 0
    while name := _FIELD.match(body, at):
        value, at = _value(body, name.end(), words)
        yield name[1].lower(), value


def _value(body: str, at: int, words: dict[str, str]) -> tuple[str, int]:
    """A value in braces, in quotes, or a bare word; parts joined by `#`."""
    parts: list[str] = []
    while at < len(body):
        if body[at] == "{":
            part, at = group(body, at)
        elif body[at] == '"':
            part, at = _quoted(body, at)
        elif word := _WORD.match(body, at):
            part, at = words.get(word[0].lower(), word[0]), word.end()
        else:
            break
        parts.append(part)
        joint = re.compile(r"\s*#\s*").match(body, at)
        if not joint:
            break
        at = joint.end()
    return "".join(parts), at


def _quoted(body: str, at: int) -> tuple[str, int]:
    depth = 0
    for found in re.compile(r"\\.|[{}\"]", re.S).finditer(body, at + 1):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if found[0] == '"' and depth <= 0:
            return body[at + 1 : found.start()], found.end()
    return body[at + 1 :], len(body)


def _reference(key: str, fields: dict[str, str]) -> Reference:
    plain = {name: detex(value) for name, value in fields.items()}
    authors = tuple(_name(one) for one in re.split(r"\s+and\s+", plain.get("author", "")) if one.strip())
    authors = tuple(name for name in authors if name != "others")
    title = plain.get("title", "")
    venue = next((plain[name] for name in _SHOWN if plain.get(name)), "")
    year = plain.get("year", "") or plain.get("date", "")[:4]
    addresses = " ".join(
        fields.get(name, "") for name in ("doi", "url", "eprint", "howpublished", "note", "journal")
    )
    guessed = reference_of(key, detex(addresses))
    said = [", ".join(authors), title, venue, year, plain.get("doi", "") or plain.get("url", "")]
    return Reference(
        key=key,
        text=re.sub(
            r"(?<=[?!])\.", "", ". ".join(part.strip(" .") for part in said if part.strip(" .")) + "."
        ),
        title=title,
        authors=authors,
        year=int(year) if re.fullmatch(r"(?:19|20)\d{2}", year) else None,
        arxiv=_arxiv(plain) or guessed.arxiv,
        doi=re.sub(r"^(?:https?://(?:dx\.)?doi\.org/|doi:)", "", plain.get("doi", "")) or guessed.doi,
        url=plain.get("url", "") or guessed.url,
    )


def _arxiv(plain: dict[str, str]) -> str:
    found = re.fullmatch(
        r"(?:arxiv:)?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", plain.get("eprint", ""), re.I
    )
    return found[1] if found else ""


def _name(name: str) -> str:
    """`Surname, Given` the other way round."""
    surname, comma, given = name.strip().partition(",")
    return f"{given.strip()} {surname.strip()}".strip() if comma else surname
