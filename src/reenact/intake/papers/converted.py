"""What programs that turn a PDF into Markdown leave behind, put right: headings all of one level
that carry the paper's numbers, tables as HTML, formulas with a space between all signs, and
algorithms: under a heading, as numbered lines, as one paragraph, as a table, with or without their
name. What is named and not read, or read and not named, is reported.
"""

import html
import re
from collections.abc import Iterator, Sequence
from itertools import groupby, takewhile

from reenact.intake.papers.assemble import Heading, Piece, Prose
from reenact.intake.papers.paper import Algorithm, Lost, Table
from reenact.intake.papers.plain import bare
from reenact.intake.papers.references import is_bibliography
from reenact.intake.papers.tables import spread

MOST_SPANNED = 100
_NUMBER = re.compile(
    r"^(?:appendix\s+)?(?P<number>(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){0,3})[.:)]?\s+\S", re.I
)
_APART = re.compile(
    r"(?i)abstract|acknowledge?ments?|(?:broader |societal )?impact(?: statement)?|appendi(?:x|ces)"
    r"|conclusions?|limitations?|ethics(?: statement)?|reproducibility(?: statement)?|author "
    r"contributions"
    r"|checklist|supplementary.*"
)
_CITED = re.compile(
    r"\bet al\b|\((?:19|20)\d\d[a-z]?\)|, (?:19|20)\d\d[a-z]?[;)]|\[\d{1,3}(?:, ?\d{1,3})*\]|\[@"
)
_NAME = re.compile(r"[^\W\d_][\w.'’-]*(?: [^\W\d_][\w.'’-]*){1,4}")
_PAGE = re.compile(r"\s+\d{1,3}$")
_ROW = re.compile(r"<tr\b[^>]*>(.*?)(?=</tr>|<tr\b|\Z)", re.S | re.I)
_CELL = re.compile(r"<(t[dh])\b([^>]*)>(.*?)(?=</t[dh]>|<t[dh]\b|\Z)", re.S | re.I)
_SPAN = re.compile(r"\b(row|col)span\s*=\s*[\"']?(\d{1,3})", re.I)
_MATHS = re.compile(r"(?<![\\$])(\$\$?)(?!\$)((?:[^$\\]|\\.)+?)\1", re.S)
_SPACED = re.compile(r"[_^] \{|\{ \S|\d (?:\. )?\d|\\\w+ \{")
_TEXT = re.compile(r"(\\(?:text\w*|mbox)\s*\{[^{}]*\})")
_NEEDED = re.compile(r"(\\[A-Za-z]+) (?=[A-Za-z])|\s+")
LONGEST_NAME = 500
LEAST_STEPS = 2
"""Signs of steps, from which on a paragraph is an algorithm although no heading calls it one."""
_TITLED = re.compile(
    r"(#{1,6}\s+)?\**Algorithm\s+(\d{1,3}|[A-Z]?\.?\d{1,2}|[IVX]{1,4})\b\**[:.]?(?:\s+|$)"
)
_HEADING = re.compile(r"#{1,6}\s")
_STEP = re.compile(
    r"(?i)\s*(?:\d{1,3}\s*:|\**(?:input|require|output|ensure|return|initiali[sz]e|for\b|while|repeat|if\b|else|end\b|parameters?\b))"
)
_OPENS = re.compile(
    r"\s*\**(?:(?:input|output|require|ensure)\b"
    r"|(?:Inputs?|Outputs?|Requires?|Ensures?|Initiali[sz]ation|Parameters?|Return)\**\s*:|\d{1,3}\s*:)"
)
_FLOW = re.compile(
    r"\bend\s?(?:for|while|if)\b|\b(?:for|while)\b[^\n]{1,400}?\bdo\b|\bif\b[^\n]{1,400}?\bthen\b|\brepeat\b"
)
_MENTIONED = re.compile(r"\bAlgorithm\s+(\d{1,2})\b(?!\s+(?:of|by|from)\s)")


def numbered(pieces: Sequence[Piece]) -> list[Piece]:
    """Headings with the levels that their numbers state, where all have one level. Those of a table
    of contents are gone; one without a number lies in the section that it stands in.
    """
    headings = [piece for piece in pieces if isinstance(piece, Heading)]
    matched = [_NUMBER.match(one.title) for one in headings]
    stated = [one["number"].upper() if one else "" for one in matched]
    # A letter is a number only after the last section with digits: `A Study of Width` is a title.
    last = max(
        (at for at, number in enumerate(stated) if number[:1].isdigit()),
        default=len(stated),
    )
    meant = [
        number if number[:1].isdigit() or at > last else "" for at, number in enumerate(stated)
    ]
    found = {id(one): number for one, number in zip(headings, meant, strict=True) if number}
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
            apart = _APART.fullmatch(piece.title.strip(" .:")) or is_bibliography(piece.title)
            if number:
                level = number.count(".") + 1
                deep = level
            else:
                deep = 1 if apart or not level else level + 1
            made.append(
                Heading(
                    deep,
                    title=piece.title,
                    appendix=number[:1].isalpha(),
                    starred=not number,
                    number=number,
                )
            )
    return made


def _is_contents(text: str, titles: set[str]) -> bool:
    """Whether a paragraph is lines of a table of contents: titles of sections, each before its
    page.
    """
    lines = re.split(r"\s{2,}", text.strip())
    known = (
        bool(_PAGE.search(one)) and _words(_PAGE.sub("", one).rstrip(" .")) in titles
        for one in lines
    )
    return 2 * sum(known) > len(lines)


def first_page(pieces: Sequence[Piece]) -> tuple[tuple[str, ...], list[Piece]]:
    """The names above the abstract, and the pieces without them. Of two columns a converter reads
    the second, where the introduction goes on, before the heading of the introduction: that text is
    put after what it continues.
    """
    heads = [at for at, one in enumerate(pieces) if isinstance(one, Heading)]
    # Only what a converter wrote has headings with numbers in it, see `numbered`.
    converted = any(isinstance(one, Heading) and one.number for one in pieces)
    if not converted or _title(pieces[heads[0]]).casefold() != "abstract":
        return (), list(pieces)
    abstract, opening = heads[:2]
    above = [one.text for one in pieces[:abstract] if isinstance(one, Prose)]
    inside = list(pieces[abstract:opening])
    # A paragraph that begins within a sentence, or cites as no abstract does.
    later = [one.text for one in inside[2:] if isinstance(one, Prose)]
    strays = (
        2 if any(re.match(r"[a-z]", text) or _CITED.search(text) for text in later) else len(inside)
    )
    body = list(pieces[opening:])
    if (
        re.search(
            r"\bintroduction$",
            _title(body[0]),
            re.I,
        )
        and len(body) > 1
    ):
        below = takewhile(
            lambda one: not isinstance(one, Heading),
            body[1:],
        )
        texts = (one.text if isinstance(one, Prose) else "" for one in below)
        cut = next(
            (at for at, text in enumerate(texts, 1) if re.search(r"[\w,-]$", text.rstrip())),
            1,
        )
        body[cut + 1 : cut + 1] = inside[strays:]
        inside = inside[:strays]
    # Names of a line such as `Ann Lee 1 Bo Chu * 2`; of a line with anything else in it none.
    lines = ([one.strip() for one in re.split(r"[\d*†‡§,\\]+|\band\b", line)] for line in above)
    people = [names for names in lines if all(_NAME.fullmatch(one) for one in names if one)]
    return tuple(name for names in people for name in names if name), [*inside, *body]


def _title(piece: Piece) -> str:
    if isinstance(piece, Heading):
        return piece.title.strip(" .:")
    return ""


def _words(title: str) -> str:
    return re.sub(r"^[\W\d]*(?:[A-Z]\b)?[\W\d]*", "", title).casefold()


def html_table(text: str) -> Table:
    """The cells of an HTML table; one that spans columns or rows is repeated in each."""
    found = [_CELL.findall(row) for row in _ROW.findall(text)]
    rows = [[_spanned(marks, inner) for _, marks, inner in row] for row in found]
    headed = takewhile(
        lambda row: row and all(kind.casefold() == "th" for kind, _, _ in row), found
    )
    width = max((sum(one[2] for one in row) for row in rows), default=0)
    return Table(
        rows=spread(rows, width),
        heads=max(len(list(headed)), 1),
    )


def _spanned(marks: str, inner: str) -> tuple[str, int, int]:
    """The words of a cell, and how many rows and columns it spans."""
    spans = {kind.casefold(): min(int(size), MOST_SPANNED) for kind, size in _SPAN.findall(marks)}
    words = compact(bare(" ".join(html.unescape(inner).split())))
    return words, max(spans.get("row", 1), 1), max(spans.get("col", 1), 1)


def compact(text: str) -> str:
    """Formulas without the spaces between their signs: `0 . 0 1` is 0.01, and `f _ { 1 }` is
    f_{1}.
    """
    return _MATHS.sub(
        lambda found: f"{found[1]}{compact_formula(found[2])}{found[1]}",
        text,
    )


def compact_formula(latex: str) -> str:
    """One formula; as it is where no one put spaces between all signs."""
    if not _SPACED.search(latex):
        return latex
    parts = _TEXT.split(latex.strip())
    for at in range(0, len(parts), 2):
        parts[at] = _NEEDED.sub(
            lambda found: f"{found[1]} " if found[1] else "",
            parts[at],
        )
    for at in range(1, len(parts), 2):
        # Words in a formula keep their spaces, unless these are between all letters.
        name, _, inner = parts[at][:-1].partition("{")
        spaced = all(len(word) == 1 for word in inner.replace("~", " ").split())
        words = (
            "".join(inner.split()).replace(
                "~",
                " ",
            )
            if spaced
            else inner.strip()
        )
        parts[at] = f"{name.strip()}{{{words}}}"
    return "".join(parts)


def is_cut_off(latex: str) -> bool:
    """Whether a formula ends before what it began."""
    latex = re.sub(r"\\\\|\\[{}]", "", latex)
    pairs = (
        ("{", "}"),
        (r"\\begin", r"\\end"),
        (r"\\left(?![a-zA-Z])", r"\\right(?![a-zA-Z])"),
    )
    return any(len(re.findall(one, latex)) != len(re.findall(other, latex)) for one, other in pairs)


def algorithm_at(
    lines: Sequence[str],
    at: int,
) -> tuple[Algorithm, int] | None:
    """The algorithm whose name stands in a line, as far as its steps go, and the line after it.
    Under a heading it is one also without steps.
    """
    named = _TITLED.match(lines[at][:LONGEST_NAME])
    if not named:
        return None
    own, *others = _runs(lines, at + 1)
    # The name may go on in the next lines; the steps begin with the first that looks like one.
    first = next(
        (line for line in range(*own) if _STEP.match(lines[line])),
        own[1],
    )
    body = list(lines[first : own[1]])
    end = own[1]
    signs = sum(bool(_STEP.match(line)) for line in body)
    for begin, after in others:
        text = "\n".join(lines[begin:after])
        formulas = not re.sub(r"\$[^$]+\$", "", text).strip(" ,;.\n")
        if text.startswith("<table") and not body:
            text = _table_text(text)
        elif not (formulas or _OPENS.match(text) or _FLOW.search(text)):
            break
        signs += _signs(text)
        body.append(text)
        end = after
    if signs < (0 if named[1] else LEAST_STEPS):
        return None
    caption = " ".join(
        " ".join(
            (
                lines[at][named.end() :],
                *lines[at + 1 : first],
            )
        ).split()
    )
    steps = "\n".join(line.rstrip() for text in body for line in text.split("\n") if line.strip())
    return Algorithm(
        caption=compact(bare(caption)),
        label=named[2],
        body=compact(steps),
    ), end


def unnamed(text: str) -> Algorithm | None:
    """A paragraph, or a table as HTML, that reads as steps."""
    if text.startswith("<table"):
        text = _table_text(text)
    if _OPENS.match(text) and _signs(text) > LEAST_STEPS:
        return Algorithm(body=compact(text))
    return None


def doubtful(pieces: Sequence[Piece]) -> Iterator[Lost]:
    """Algorithms without steps or without a name, and those that the text names and no one read."""
    found = [one for one in pieces if isinstance(one, Algorithm)]
    nameless = [one for one in found if not one.label]
    for one in (one for one in found if not one.body):
        yield Lost(
            "algorithm",
            f"Algorithm {one.label} came without its steps.",
            one.caption[:60],
        )
    words = " ".join(one.text for one in pieces if isinstance(one, Prose))
    missing = sorted(
        set(_MENTIONED.findall(words)) - {one.label for one in found},
        key=int,
    )
    if nameless and missing:
        names = ", ".join(missing)
        what = f"{len(nameless)} came without a name, and the text names Algorithm {names}."
        yield Lost(
            "algorithm",
            f"Which algorithm is which is not known: {what}",
            nameless[0].body[:60],
        )
    for number in missing[len(nameless) :]:
        yield Lost(
            "algorithm",
            f"The text names Algorithm {number}, and no such algorithm was read.",
        )


def _runs(
    lines: Sequence[str],
    start: int,
) -> Iterator[tuple[int, int]]:
    """From where to where lines without an empty one between them go, up to the next heading. The
    first such run may be empty.
    """
    end = next(
        (at for at in range(start, len(lines)) if _HEADING.match(lines[at])),
        len(lines),
    )
    if start == end or not lines[start].strip():
        yield start, start
    for filled, run in groupby(
        range(start, end),
        key=lambda at: bool(lines[at].strip()),
    ):
        listed = list(run)
        if filled:
            yield listed[0], listed[-1] + 1


def _signs(text: str) -> int:
    return bool(_OPENS.match(text)) + len(_FLOW.findall(text))


def _table_text(text: str) -> str:
    # A cell that spans columns is repeated in each.
    return "\n".join("  ".join(filter(None, dict.fromkeys(row))) for row in html_table(text).rows)
