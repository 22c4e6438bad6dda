"""BibTeX -> References. An entry that is broken costs itself only."""

import re
from collections.abc import Iterator
from dataclasses import replace

from reenact.intake.papers.latex_macros import detex, group
from reenact.intake.papers.paper import Reference
from reenact.intake.papers.references import authors_of, reference_of

MOST_ENTRIES = 20_000
LONGEST_ENTRY = 40_000
_ENTRY = re.compile(r"^[ \t]*@([A-Za-z]+)\s*\{", re.M)
_STRING = re.compile(
    r"@string\s*\{\s*(\w{1,60})\s*=\s*(?:\"([^\"\n]{0,300})\"|\{([^{}\n]{0,300})\})",
    re.I,
)
"""An abbreviation: `@string{icml = "..."}`."""
_KEY = re.compile(r"\s*([^\s,{}]{1,200})\s*,")
_FIELD = re.compile(r"\s*,?\s*([A-Za-z][\w-]{0,40})\s*=\s*")
_WORD = re.compile(r"\w{1,100}")
_ARXIV = re.compile(r"(?:arxiv:)?(\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?", re.I)
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
LONGEST_ITEM = 8000
_LIST = re.compile(r"\\begin\s*\{thebibliography\}\s*(?:\{[^{}]*\})?")
_END = re.compile(r"\\end\s*\{thebibliography\}")
_ITEM = re.compile(r"\\bibitem\s*")
_ITEM_KEY = re.compile(r"\s*\{([^{}]{1,200})\}")
_BIBLATEX_ENTRY = re.compile(r"\\entry\s*\{([^{}]{1,200})\}")
_BIBLATEX_FIELD = re.compile(
    r"\\(?:field|verb)\s*\{(title|year|eprint|doi|url|journaltitle|booktitle)\}"
)
_VERBATIM = re.compile(r"\s*\\verb\s+(\S+)\s*\\endverb")
_FAMILY = re.compile(r"\bfamily=\s*(?=\{)")
_GIVEN = re.compile(r"\bgiven=\s*(?=\{)")


def read_bibtex(text: str) -> Iterator[Reference]:
    """Every entry, in order."""
    words = {found[1].lower(): found[2] or found[3] or "" for found in _STRING.finditer(text)}
    for found, body in _bodies(text, _ENTRY, LONGEST_ENTRY):
        key = None
        if found[1].lower() not in _NO_ENTRY:
            key = _KEY.match(body)
        at = key.end() if key else 0
        fields = dict[str, str]()
        while key and (name := _FIELD.match(body, at)):
            fields[name[1].lower()], at = _value(body, name.end(), words)
        if key:
            yield _reference(key[1], fields)


def _bodies(
    text: str,
    begin: re.Pattern[str],
    longest: int,
) -> Iterator[tuple[re.Match[str], str]]:
    """How each entry begins, and what follows up to the next."""
    starts = list(begin.finditer(text))[:MOST_ENTRIES]
    ends = [
        *(found.start() for found in starts[1:]),
        len(text),
    ]
    for found, end in zip(starts, ends, strict=False):
        yield found, text[found.end() : min(end, found.end() + longest)]


def _value(
    body: str,
    at: int,
    words: dict[str, str],
) -> tuple[str, int]:
    """A value in braces, in quotes, or a bare word; parts joined by `#`."""
    parts: list[str] = []
    while at < len(body):
        if body[at] == "{":
            part, at = group(body, at)
        elif body[at] == '"':
            closing = _closing(body, at + 1, '"')
            first = at + 1
            end, at = (closing.start(), closing.end()) if closing else (len(body), len(body))
            part = body[first:end]
        elif word := _WORD.match(body, at):
            part = words.get(
                word[0].lower(),
                word[0],
            )
            at = word.end()
        else:
            break
        parts.append(part)
        joint = re.compile(r"\s*#\s*").match(body, at)
        if not joint:
            break
        at = joint.end()
    return "".join(parts), at


def _closing(
    body: str,
    at: int,
    sign: str,
) -> re.Match[str] | None:
    """The next such sign outside of braces; none where none follows."""
    depth = 0
    for found in re.compile(rf"\\.|[{{}}{re.escape(sign)}]", re.S).finditer(
        body,
        at,
    ):
        depth += {
            "{": 1,
            "}": -1,
        }.get(found[0], 0)
        if found[0] == sign and depth <= 0:
            return found
    return None


def _reference(key: str, fields: dict[str, str]) -> Reference:
    plain = {name: detex(value) for name, value in fields.items()}
    people = (
        one.strip().partition(",")
        for one in re.split(
            r"\s+and\s+",
            plain.get("author", ""),
        )
    )
    # `Surname, Given` the other way round.
    names = (f"{given.strip()} {surname.strip()}".strip() for surname, _, given in people)
    addresses = ("doi", "url", "eprint", "howpublished", "note", "journal")
    guessed = reference_of(
        key,
        detex(" ".join(fields.get(name, "") for name in addresses)),
    )
    return _made(
        key,
        plain,
        tuple(name for name in names if name not in ("", "others")),
        guessed,
    )


def _made(
    key: str,
    plain: dict[str, str],
    authors: tuple[str, ...],
    guessed: Reference,
) -> Reference:
    """The reference that fields without their LaTeX make; ids that no field has are `guessed`."""
    title = plain.get("title", "")
    venue = next(
        (plain[name] for name in _SHOWN if plain.get(name)),
        "",
    )
    year = plain.get("year", "") or plain.get("date", "")[:4]
    parts = [
        ", ".join(authors),
        title,
        venue,
        year,
        plain.get("doi", "") or plain.get("url", ""),
    ]
    text = ". ".join(part.strip(" .") for part in parts if part.strip(" .")) + "."
    arxiv = _ARXIV.fullmatch(plain.get("eprint", ""))
    text = re.sub(r"(?<=[?!])\.", "", text)
    dated = None
    if re.fullmatch(r"(?:19|20)\d{2}", year):
        dated = int(year)
    doi = (
        re.sub(
            r"^(?:https?://(?:dx\.)?doi\.org/|doi:)",
            "",
            plain.get("doi", ""),
        )
        or guessed.doi
    )
    number = arxiv[1] if arxiv else guessed.arxiv
    url = plain.get("url", "") or guessed.url
    return Reference(
        key,
        text=text,
        title=title,
        authors=authors,
        year=dated,
        arxiv=number,
        doi=doi,
        url=url,
    )


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
        bodies = _bodies(text, _BIBLATEX_ENTRY, 4 * LONGEST_ITEM)
        yield from (_biblatex_entry(found[1], body) for found, body in bodies)
        return
    for part in _ITEM.split(text)[1:]:
        body = part[:LONGEST_ITEM]
        # In an option such as `[Kingma(2015)]` braces and brackets may nest.
        option = None
        if body.startswith("["):
            option = _closing(body, 0, "]")
        if option:
            body = body[option.end() :]
        key = _ITEM_KEY.match(body)
        if key is not None and key[1].strip():
            yield _entry(
                key[1].strip(),
                body[key.end() :],
            )


def _entry(key: str, body: str) -> Reference:
    """BibTeX's styles set authors, title and the rest apart with `\\newblock`."""
    blocks = [detex(block) for block in re.split(r"\\newblock\b", body)]
    found = reference_of(key, detex(body))
    if len(blocks) < 3:
        return found
    dated = re.fullmatch(r"\(?(?:19|20)\d{2}[a-z]?\)?\.?", blocks[1])
    return replace(
        found,
        title=blocks[2 if dated else 1].strip(" .,"),
        authors=authors_of(blocks[0]),
    )


def _biblatex_entry(key: str, body: str) -> Reference:
    fields: dict[str, str] = {}
    for field in _BIBLATEX_FIELD.finditer(body):
        # In braces, or between `\verb` and `\endverb` on the next line.
        verbatim = _VERBATIM.match(body, field.end())
        braces = ""
        if body.startswith("{", field.end()):
            braces = group(body, field.end())[0]
        fields[field[1]] = detex(verbatim[1] if verbatim else braces)
    ends = ([found.end() for found in part.finditer(body)] for part in (_GIVEN, _FAMILY))
    names = ([detex(group(body, at)[0]) for at in part] for part in ends)
    return _made(
        key,
        fields,
        tuple(
            map(
                " ".join,
                zip(*names, strict=False),
            )
        ),
        Reference(key, ""),
    )
