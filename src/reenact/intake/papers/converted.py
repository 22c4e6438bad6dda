"""What programs that turn a PDF into Markdown leave behind, put right: headings all of one level that carry
the paper's numbers, tables as HTML, formulas with a space between all signs."""

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

from reenact.intake.papers.assemble import Heading, Piece, Prose
from reenact.intake.papers.paper import Table
from reenact.intake.papers.plain import bare
from reenact.intake.papers.references import is_bibliography
from reenact.intake.papers.tables import spread

MOST_SPANNED = 100
_NUMBER = re.compile(
    r"^(?:appendix\s+)?(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-Z](?:\.\d{1,2}){0,3})[.:)]?\s+\S", re.I
)
_APART = re.compile(
    r"abstract|acknowledge?ments?|(?:broader |societal )?impact(?: statement)?|appendi(?:x|ces)|conclusions?"
    r"|limitations?|ethics(?: statement)?|reproducibility(?: statement)?|author contributions|checklist"
    r"|supplementary.*",
    re.I,
)
_ABSTRACT = re.compile(r"abstract", re.I)
_INTRODUCTION = re.compile(r"\bintroduction$", re.I)
_CITED = re.compile(
    r"\bet al\b|\((?:19|20)\d\d[a-z]?\)|, (?:19|20)\d\d[a-z]?[;)]|\[\d{1,3}(?:, ?\d{1,3})*\]|\[@"
)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){1,4}")
_PAGE = re.compile(r"\s+\d{1,3}$")


def numbered(pieces: Sequence[Piece]) -> list[Piece]:
    """Headings with the levels that their numbers state, where all have one level. Those of a table of
    contents are gone; one without a number lies in the section that it stands in."""
    headings = [piece for piece in pieces if isinstance(piece, Heading)]
    matched = [_NUMBER.match(one.title) for one in headings]
    stated = [one["number"].upper() if one else "" for one in matched]
    # A letter is a number only behind the last section with digits: `A Study of Width` is a title.
    last = max((at for at, number in enumerate(stated) if number[:1].isdigit()), default=len(stated))
    found = {
        id(one): number
        for at, (one, number) in enumerate(zip(headings, stated, strict=True))
        if number and (number[0].isdigit() or at > last)
    }
    if len({one.level for one in headings}) > 1 or len(found) < 2:
        return list(pieces)
    titles = {_words(one.title) for one in headings}
    made: list[Piece] = []
    level = 0
    for piece in pieces:
        if not isinstance(piece, Heading):
            made += [] if isinstance(piece, Prose) and _is_contents(piece.text, titles) else [piece]
        elif not (_PAGE.search(piece.title) and _words(_PAGE.sub("", piece.title)) in titles):
            number = found.get(id(piece), "")
            apart = not number and (
                _APART.fullmatch(piece.title.strip(" .:")) or is_bibliography(piece.title)
            )
            level = number.count(".") + 1 if number else level
            deep = level if number else 1 if apart or not level else level + 1
            made.append(
                replace(piece, level=deep, starred=not number, number=number, appendix=number[:1].isalpha())
            )
    return made


def _is_contents(text: str, titles: set[str]) -> bool:
    """Whether a paragraph is lines of a table of contents: titles of sections, each before its page."""
    lines = re.split(r"\s{2,}", text.strip())
    known = (bool(_PAGE.search(one)) and _words(_PAGE.sub("", one).rstrip(" .")) in titles for one in lines)
    return 2 * sum(known) > len(lines)


def first_page(pieces: Sequence[Piece]) -> tuple[tuple[str, ...], list[Piece]]:
    """The names above the abstract, and the pieces without them. Of two columns a converter reads the second,
    where the introduction goes on, before the heading of the introduction: that text is put behind what it
    continues."""
    heads = [at for at, one in enumerate(pieces) if isinstance(one, Heading)]
    # Only what a converter wrote has headings with numbers in it, see `numbered`.
    if not any(isinstance(one, Heading) and one.number for one in pieces) or not _ABSTRACT.fullmatch(
        _title(pieces[heads[0]])
    ):
        return (), list(pieces)
    abstract, opening = heads[:2]
    above = [one.text for one in pieces[:abstract] if isinstance(one, Prose)]
    inside = list(pieces[abstract:opening])
    strays = 2 if any(map(_continues, inside[2:])) else len(inside)
    body = list(pieces[opening:])
    if _INTRODUCTION.search(_title(body[0])) and len(body) > 1:
        end = next((at for at, one in enumerate(body[1:], 1) if isinstance(one, Heading)), len(body))
        cut = next((at for at in range(1, end) if _is_cut(body[at])), 1)
        body[cut + 1 : cut + 1] = inside[strays:]
        inside = inside[:strays]
    return tuple(name for line in above for name in _people(line)), [*inside, *body]


def _title(piece: Piece) -> str:
    return piece.title.strip(" .:") if isinstance(piece, Heading) else ""


def _continues(piece: Piece) -> bool:
    """A paragraph that begins within a sentence, or cites as no abstract does."""
    return isinstance(piece, Prose) and bool(re.match(r"[a-z]", piece.text) or _CITED.search(piece.text))


def _is_cut(piece: Piece) -> bool:
    return isinstance(piece, Prose) and bool(re.search(r"[\w,-]$", piece.text.rstrip()))


def _people(line: str) -> Iterator[str]:
    """Names of a line such as `Ann Lee 1 Bo Chu * 2`; of a line with anything else in it none."""
    names = [one.strip() for one in re.split(r"[\d*†‡§,\\]+|\band\b", line)]
    if all(_NAME.fullmatch(one) for one in names if one):
        yield from filter(None, names)


def _words(title: str) -> str:
    return re.sub(r"^[\W\d]*(?:[A-Z]\b)?[\W\d]*", "", title).casefold()


_ROW = re.compile(r"<tr\b[^>]*>(.*?)(?=</tr>|<tr\b|\Z)", re.S | re.I)
_CELL = re.compile(r"<(t[dh])\b([^>]*)>(.*?)(?=</t[dh]>|<t[dh]\b|\Z)", re.S | re.I)
_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?(\d{1,3})", re.I)


def html_table(text: str) -> Table:
    """The cells of an HTML table; one that spans columns or rows is repeated in each."""
    found = [_CELL.findall(row) for row in _ROW.findall(text)]
    rows = [[_spanned(marks, inner) for _, marks, inner in row] for row in found]
    headed = (bool(row) and all(kind.casefold() == "th" for kind, _, _ in row) for row in found)
    heads = sum(1 for _ in takewhile(bool, headed))
    return Table(
        rows=spread(rows, max((sum(one[2] for one in row) for row in rows), default=0)), heads=max(heads, 1)
    )


def _spanned(marks: str, inner: str) -> tuple[str, int, int]:
    """The words of a cell, and how many rows and columns it spans."""
    spans = {kind.casefold(): min(int(size), MOST_SPANNED) for kind, size in _SPAN.findall(marks)}
    words = compact(bare(" ".join(html.unescape(inner).split())))
    return words, max(spans.get("row", 1), 1), max(spans.get("col", 1), 1)


_MATHS = re.compile(r"(?<![\\$])(\$\$?)(?!\$)((?:[^$\\]|\\.)+?)\1", re.S)
_SPACED = re.compile(r"[_^] \{|\{ \S|\d (?:\. )?\d|\\\w+ \{")
_TEXT = re.compile(r"(\\(?:text\w*|mbox)\s*\{[^{}]*\})")
_NEEDED = re.compile(r"(\\[A-Za-z]+) (?=[A-Za-z])|\s+")


def compact(text: str) -> str:
    """Formulas without the spaces between their signs: `0 . 0 1` is 0.01, and `f _ { 1 }` is f_{1}."""
    return _MATHS.sub(lambda found: f"{found[1]}{compact_formula(found[2])}{found[1]}", text)


def compact_formula(latex: str) -> str:
    """One formula; as it is where nobody put spaces between all signs."""
    if not _SPACED.search(latex):
        return latex
    parts = _TEXT.split(latex.strip())
    for at in range(0, len(parts), 2):
        parts[at] = _NEEDED.sub(lambda found: f"{found[1]} " if found[1] else "", parts[at])
    return "".join(_kept_words(part) if at % 2 else part for at, part in enumerate(parts))


def _kept_words(latex: str) -> str:
    """Words in a formula keep their spaces, unless these stand between all letters."""
    inner = latex[latex.index("{") + 1 : -1]
    spaced = all(len(word) == 1 for word in inner.replace("~", " ").split())
    name = latex[: latex.index("{")].strip()
    return f"{name}{{{''.join(inner.split()).replace('~', ' ') if spaced else inner.strip()}}}"


def is_cut_off(latex: str) -> bool:
    """Whether a formula ends before what it began."""
    bare_braces = re.sub(r"\\\\|\\[{}]", "", latex)
    pairs = (("{", "}"), ("\\begin", "\\end"))
    return any(bare_braces.count(opened) != bare_braces.count(closed) for opened, closed in pairs) or len(
        re.findall(r"\\left(?![a-zA-Z])", latex)
    ) != len(re.findall(r"\\right(?![a-zA-Z])", latex))
