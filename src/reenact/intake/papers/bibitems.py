r"""Bibliographies in LaTeX: `thebibliography` with its `\bibitem`s, and what biblatex leaves in a .bbl."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reenact.intake.papers.detex import detex, group
from reenact.intake.papers.paper import Reference
from reenact.intake.papers.reference_text import authors_of, reference_of

LONGEST_ENTRY = 8000
_LIST = re.compile(r"\\begin\s*\{thebibliography\}\s*(?:\{[^{}]*\})?")
_END = re.compile(r"\\end\s*\{thebibliography\}")
_ITEM = re.compile(r"\\bibitem\s*")
_KEY = re.compile(r"\s*\{([^{}]{1,200})\}")
_ENTRY = re.compile(r"\\entry\s*\{([^{}]{1,200})\}")
_FIELD = re.compile(r"\\(?:field|verb)\s*\{(title|year|eprint|doi|url|journaltitle|booktitle)\}")
_FAMILY = re.compile(r"\bfamily=\s*(?=\{)")
_GIVEN = re.compile(r"\bgiven=\s*(?=\{)")


def cut_list(text: str) -> tuple[str, str]:
    """A document without its `thebibliography`, and that list; empty when there is none."""
    begin = _LIST.search(text)
    if begin is None:
        return text, ""
    end = _END.search(text, begin.end())
    stop = end.start() if end else len(text)
    return text[: begin.start()] + (text[end.end() :] if end else ""), text[begin.end() : stop]


def read_bibitems(text: str) -> Iterator[Reference]:
    """Every entry of a bibliography in LaTeX, in order."""
    if "\\entry{" in text and "\\bibitem" not in text:
        yield from _biblatex(text)
        return
    parts = _ITEM.split(text)
    for part in parts[1:]:
        body = _without_option(part[:LONGEST_ENTRY])
        key = _KEY.match(body)
        if key:
            yield _entry(key[1].strip(), body[key.end() :])


def _without_option(body: str) -> str:
    """Drops `[Kingma(2015)]`, in which braces and brackets may nest."""
    if not body.startswith("["):
        return body
    depth = 0
    for found in re.finditer(r"\\.|[{}\]]", body, re.S):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if found[0] == "]" and depth <= 0:
            return body[found.end() :]
    return body


def _entry(key: str, body: str) -> Reference:
    """BibTeX's styles set authors, title and the rest apart with `\\newblock`."""
    blocks = [detex(block) for block in re.split(r"\\newblock\b", body)]
    found = reference_of(key, detex(body))
    if len(blocks) < 3:
        return found
    names, title = blocks[0], blocks[1]
    if re.fullmatch(r"\(?(?:19|20)\d{2}[a-z]?\)?\.?", title):
        title = blocks[2]
    return replace(found, title=title.strip(" .,"), authors=authors_of(names))


def _biblatex(text: str) -> Iterator[Reference]:
    starts = list(_ENTRY.finditer(text))
    ends = [*(found.start() for found in starts[1:]), len(text)]
    for found, end in zip(starts, ends, strict=True):
        body = text[found.end() : min(end, found.end() + 4 * LONGEST_ENTRY)]
        yield _biblatex_entry(found[1], body)


def _biblatex_entry(key: str, body: str) -> Reference:
    fields = {field[1]: detex(_field(body, field.end())) for field in _FIELD.finditer(body)}
    surnames = [detex(group(body, found.end())[0]) for found in _FAMILY.finditer(body)]
    given = [detex(group(body, found.end())[0]) for found in _GIVEN.finditer(body)]
    authors = tuple(f"{first} {last}" for first, last in zip(given, surnames, strict=False))
    year = fields.get("year", "")
    venue = fields.get("journaltitle") or fields.get("booktitle", "")
    said = [", ".join(authors), fields.get("title", ""), venue, year]
    eprint = re.fullmatch(r"(\d{4}\.\d{4,5}|[a-z-]+/\d{7})(?:v\d+)?", fields.get("eprint", ""))
    return Reference(
        key,
        ". ".join(part for part in said if part) + ".",
        title=fields.get("title", ""),
        authors=authors,
        year=int(year) if year.isdigit() else None,
        arxiv=eprint[1] if eprint else "",
        doi=fields.get("doi", ""),
        url=fields.get("url", ""),
    )


def _field(body: str, at: int) -> str:
    """A field in braces, or between `\\verb` and `\\endverb` on the next line."""
    if body[at : at + 1] == "{":
        return group(body, at)[0]
    found = re.compile(r"\s*\\verb\s+(\S+)\s*\\endverb").match(body, at)
    return found[1] if found else ""
