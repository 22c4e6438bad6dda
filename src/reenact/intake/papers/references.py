"""An entry of a bibliography as it is printed -> Reference, as far as its words tell."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self

from reenact.intake.papers.paper import Reference

LONGEST = 4000
_HEADING = re.compile(
    r"references|bibliography|literature|(?:works|literature) cited|reference list",
    re.I,
)
"""Titles of the section that is the bibliography."""
_DOI = re.compile(r"\b10\.\d{4,9}/[^\s\"<>{}|\\^\[\]`]{1,200}")
_ARXIV = re.compile(
    r"(?i)(?:arxiv(?:\.org/(?:abs|pdf|html)/|\s*preprint\s*arxiv:|[:\s]+|\s+abs/)|abs/)\s*"
    r"(?P<id>\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?"
)
_URL = re.compile(r"https?://[^\s<>\"{}|\\^`]{3,500}")
_YEAR = re.compile(r"(?<![\d.:/-])((?:19|20)\d{2})[a-z]?(?![\d/])(?!\.\d)")
_QUOTED = re.compile(r"[“\"]([^“”\"]{8,300}?)[,.]?[”\"]")
_ITALIC = re.compile(r"\*([^*]{8,300})\*")
_LOOSE_ACCENT = re.compile(r"(?:^|(?<=\s))\\?[`´¨ˆ˜¸](?=\s|$)")
"""An accent that a PDF has next to its letter."""
# A full stop after a single letter is an initial's, not the end of the authors.
_PART = re.compile(r"(?<=[^\W_]{2})\.\s+|(?<=\))[.,]?\s+|(?<=[?!])\s+|(?<=[’'”\"])\.\s+")
_TURNED = re.compile(
    r"([^\W\d_][\w'’ -]{0,40}),\s*((?:[^\W\d_]\.[\s~-]*){1,4})(?=,|;|\band\b|&|$|\s*\()"
)
_ENTRY = re.compile(
    r"^\s*(?:\[(?P<key>[^\[\]\s]{1,40})\]:?|(?P<number>\d{1,4})[.)])\s+(?P<text>\S.*)$",
    re.S,
)
_NAMED = re.compile(r"^\s*\[?@(?P<key>[^\s\]:;,]{1,80})\]?[:.]?\s+(?P<text>\S.*)$", re.S)
_RUN_ON = re.compile(
    r"(?:(?<=\d\.)|(?<=\d[a-z]\.))\s+"
    r"(?=[A-Z][\w'’-]+(?:[ -][A-Z][\w'’-]+)?, (?:[A-Z]\.[ -]?){1,4}(?:,|and |& ))"
    r"|(?<=[.\d])\s+(?=\[\d{1,3}\]\s+[^\W\d_a-z])"
)
_BEGINS = re.compile(
    r"\s*(?:\[|@|\d{1,4}[.)]\s|[^\W\d_a-z][\w'’-]*(?: "
    r"[\w'’-]+){0,3},\s(?:[^\W\d_a-z]\.|[^\W\d_a-z]\w+ )"
    r"|(?:[A-Z]\.[ -]?){1,3}[^\W\d_a-z])"
)
_SURNAME_INITIALS = re.compile(
    r"(?:[^\W\d_][\w'’`´-]*[ -]){0,3}[^\W\d_][\w'’`´-]*\*?, "
    r"[^\W\d_a-z][a-z]?\.[ ~-]*(?:[^\W\d_][a-z]?\.[ ~-]*){0,3}(?:(?:Jr|Sr)\.,?\s*)?"
)
_SEPARATOR = re.compile(
    r"\s*(?:,|;)?\s*(?:and\b|&|…|\.\.\.)?\s*(?:et al\b\.?,?\s*)?(?:\(eds?\.\)[.,]?\s*)?"
)
_DATED = re.compile(r"\s*\(?(?:19|20)\d{2}[a-z]?\)?[.,:]\s+")
_TITLE_END = re.compile(
    r"(?:(?<=[^\W_]{2})|(?<=[\d)’'”\"$]))(?<!\bvs)(?<!\bSt)\.\s+|(?<=[?!])[”\"]?\s+|\.?$"
)
_VENUE = re.compile(
    r"(?i)in\b|arxiv|proceedings|advances|journal|corr\b|ph\.?d|technical|url\b|https?:|www\.|\(?\d|ieee|acm\b|nature\b|science\b"
    r"|transactions|springer|preprint|volume|doi\b|international|conference|neural|neurips|openai|\*"
)
LONGEST_RANGE = 50
_KEYED = re.compile(r"\[([^\[\]]{0,200}?@[^\[\]]{1,400})\]")
_KEY = re.compile(r"(?<![\w.])@([^\s;,\]\[@{}]+)")
_NUMBERS = re.compile(r"\[(\d{1,4}(?:\s*[,;–-]\s*\d{1,4}){0,40})\]")
_AUTHOR_YEAR = re.compile(
    r"(?P<name>[^\W\d_][\w'’-]{1,40})(?:\s+et\s+al\.?|\s+(?:and|&)\s+[^\W\d_][\w'’-]{1,40})?,?\s*\(?"
    r"(?P<year>(?:19|20)\d{2})[a-z]?\b"
)


def reference_of(key: str, text: str) -> Reference:
    """What an entry says about what it names."""
    text = " ".join(_LOOSE_ACCENT.sub(" ", text[:LONGEST]).split())
    doi = _DOI.search(text)
    arxiv = _ARXIV.search(text)
    url = _URL.search(text)
    years = _YEAR.findall(_URL.sub(" ", text))
    names, title = _parts(text)
    year = int(years[-1]) if years else None
    number = arxiv["id"] if arxiv else ""
    name, address = (found[0].rstrip(".,;)") if found else "" for found in (doi, url))
    return Reference(
        key,
        text=text,
        title=title,
        authors=authors_of(names),
        year=year,
        arxiv=number,
        doi=name,
        url=address,
    )


def keyed(text: str, number: int) -> Reference:
    """An entry that may begin with its key (`[3]`, `3.`, `@key:`); else it has its number."""
    found = _NAMED.match(text) or _ENTRY.match(text)
    named = {
        "text": text,
        **(found.groupdict() if found else {}),
    }
    key = named.get("key") or named.get("number") or str(number)
    return reference_of(key.lstrip("@"), named["text"])


def listed(entries: Iterable[str]) -> tuple[Reference, ...]:
    """The entries of a bibliography, in order: several that were run together are cut apart, one
    that ends in mid-sentence at the end of a page is joined with its rest.
    """
    whole: list[str] = []
    for entry in (part for text in entries for part in _RUN_ON.split(text) if part.strip()):
        if whole and not whole[-1].rstrip().endswith((".", "/")) and not _BEGINS.match(entry):
            whole[-1] += f" {entry.strip()}"
        else:
            whole.append(entry)
    return tuple(keyed(entry, number) for number, entry in enumerate(whole, start=1))


def is_bibliography(title: str) -> bool:
    """Whether a section of that title is the bibliography."""
    return _HEADING.fullmatch(title.strip(" .:")) is not None


def is_entry(text: str) -> bool:
    """Whether a paragraph begins with authors and has a year, as entries do and sentences do
    not.
    """
    return bool(_after_surnames(text[:LONGEST]) and _YEAR.search(text[:LONGEST]))


def authors_of(names: str) -> tuple[str, ...]:
    """Names one by one, given names first."""
    names = re.sub(r"\bet al\b\.?|\(?\b(?:19|20)\d{2}[a-z]?\)?|\beds?\.", " ", names).strip(" ,;:")
    if turned := _TURNED.findall(names.rstrip(". ") + "."):
        whole = (f"{given.strip()} {surname.strip()}" for surname, given in turned)
        return tuple(re.sub(r"^(?:and|&)\s+", "", name) for name in whole)
    parts = re.split(r"\s*(?:,\s*and\s|;|,|\band\b|&)\s*", names.rstrip(" ."))
    return tuple(part for part in parts if re.search(r"[^\W\d_]{2}", part) and len(part) < 60)


def _parts(text: str) -> tuple[str, str]:
    """The authors and the title."""
    quoted = _QUOTED.search(text) or _ITALIC.search(text)
    if quoted and quoted.start() > 3:
        return text[: quoted.start()], quoted[1].strip(" .,")
    if at := _after_surnames(text):
        return text[:at], _title_in(text[at:])
    parts = [part.strip() for part in _PART.split(text) if part and part.strip()]
    if len(parts) > 1 and _VENUE.match(parts[1]) and not re.search(r"\bet al\b|,.*,", parts[0]):
        return "", _title_in(text)
    for at, part in enumerate(parts[1:], start=1):
        if not re.fullmatch(r"\(?(?:19|20)\d{2}[a-z]?\)?[.,]?", part) and len(part) > 3:
            return parts[0], _title_in(text[text.index(part) :] if at == 1 else part)
    return "", ""


def _after_surnames(text: str) -> int:
    """Where a list of `Surname, I.` ends; 0 where there is none."""
    at = 0
    while found := _SURNAME_INITIALS.match(text, at):
        separator = _SEPARATOR.match(text, found.end())
        at = separator.end() if separator else found.end()
    return at


def _title_in(text: str) -> str:
    """The sentence that begins here; a question goes on unless what follows names where it
    appeared.
    """
    at = 0
    if dated := _DATED.match(text):
        at = dated.end()
    end = at
    for found in _TITLE_END.finditer(text, at):
        end = found.start()
        rest = text[found.end() :]
        if text[end - 1 : end] not in ("?", "!") or not rest or _VENUE.match(rest):
            break
    return re.sub(r", volume \d.*$", "", text[at:end]).strip(' .,“”"*')


def marked(keys: Iterable[str]) -> str:
    """The status of a citation in a sentence."""
    return f"[{'; '.join(f'@{key}' for key in keys)}]"


@dataclass(frozen=True)
class Bibliography:
    """What a citation may lead to."""

    keys: frozenset[str] = frozenset()
    by_author: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Keys by surname of the first author and year."""

    @classmethod
    def of(cls, references: Iterable[Reference]) -> Self:
        listed = list(references)
        dated = (
            one for one in reversed(listed) if one.authors and one.authors[0].split() and one.year
        )
        named = {
            (
                one.authors[0].split()[-1].casefold(),
                str(one.year),
            ): one.key
            for one in dated
        }
        return cls(frozenset(one.key for one in listed), named)


def cited_keys(text: str, known: Bibliography) -> tuple[str, ...]:
    """Keys that a sentence cites. Numbers count only where the bibliography is numbered."""
    found: dict[str, None] = {}
    for bracket in _KEYED.finditer(text):
        found |= dict.fromkeys(key.rstrip(".:") for key in _KEY.findall(bracket[1]))
    for bracket in _NUMBERS.finditer(text):
        numbers: list[str] = []
        for part in re.split(r"[,;]", bracket[1]):
            # `5-7` is 5, 6, 7.
            ends = [int(number) for number in re.findall(r"\d+", part)]
            is_range = len(ends) > 1 and 0 <= ends[1] - ends[0] <= LONGEST_RANGE
            numbers += map(
                str,
                range(ends[0], ends[1] + 1) if is_range else re.findall(r"\d+", part),
            )
        if all(number in known.keys for number in numbers):
            found |= dict.fromkeys(numbers)
    for named in _AUTHOR_YEAR.finditer(text) if known.by_author else ():
        key = known.by_author.get(
            (
                named["name"].casefold(),
                named["year"],
            )
        )
        if key:
            found[key] = None
    return tuple(found)
