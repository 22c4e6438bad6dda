"""Plain text -> Draft: paragraphs by empty lines, headings by their numbers or their shape."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from reenact.intake.papers.assemble import Draft, Heading, Piece, Prose, cut_references
from reenact.intake.papers.paper import Algorithm, Captioned, Figure, Table
from reenact.intake.papers.references import is_bibliography

LONGEST_HEADING = 90
_NUMBERED = re.compile(
    r"^(?P<number>\d{1,2}(?:\.\d{1,2}){0,3}|[A-H](?:\.\d{1,2}){1,3})[.)]?\s+(?P<title>[A-Z](?:[^.!?]|[.!?](?=\S))*)$"
)
_KNOWN = re.compile(
    r"(?i)^(?:abstract|introduction|background|related work|method(?:s|ology)?|approach"
    r"|experiments?(?:al setup)?|results?|discussion|conclusions?|limitations|acknowledge?ments?"
    r"|appendix(?: [A-Z])?|evaluation|implementation details)\s*[:.]?$"
)
_ENTRY = re.compile(r"\n(?=\s*(?:\[[^\[\]\s]{1,40}\]|\d{1,3}\.)\s+\S)")
"""Between two entries of a bibliography that begin with their numbers."""
_HYPHEN = re.compile(r"(?<=[a-z]-)[ \t]*\n[ \t]*(?=[a-z])")
_KEPT = re.compile(
    r"(\$\$[^$]+\$\$|(?<!\\)\$(?:[^$\\]|\\.)+\$|`{1,3}[^`]{1,500}`{1,3}|\[[^\[\]]{0,200}@[^\[\]]{0,400}\](?!\())"
)
_LINK = re.compile(r"\[([^\[\]]+)\]\(([^()\s]*)[^()]*\)")
_NOTE = re.compile(r"\[\^[^\]\s]+\]:?")
_STRONG = re.compile(r"(\*{1,3}|(?<!\w)_{1,3})(?=\S)([^*_]+?)(?<=\S)\1(?!\w)")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,300}>")
_ESCAPED = re.compile(r"\\([!#()*+\-.<>\[\]_`{|}~])")
_BRACKETED_MATHS = re.compile(r"\\\((.+?)\\\)")
_BAR = re.compile(r"(\\.|\$(?:[^$\\]|\\.)+\$)|\|")
_RULE = re.compile(r"\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$")
_CAPTION = re.compile(
    r"(?is)^\**(?P<kind>table|figure|fig\.|algorithm|listing)\s*(?P<number>[\w.-]{0,8}?)\**\s*[:.]\**\s*(?P<words>\S.*)$"
)
_CAPTIONED = {
    "tab": Table,
    "fig": Figure,
    "alg": Algorithm,
    "lis": Algorithm,
}
_LABEL = re.compile(r"\s*\{#([^\s}]+)[^}]*\}\s*$")


def read_plain(text: str) -> Draft:
    """The paper in a plain text; its first paragraph, when short, is the title."""
    pieces, references = cut_references(_shaped(re.split(r"\n[ \t]*\n", text)))
    title = ""
    if pieces and isinstance(pieces[0], Prose) and len(pieces[0].text) < 200 and len(pieces) > 1:
        title = pieces[0].text
        pieces = pieces[1:]
    return Draft(
        "text",
        tuple(captioned(pieces)),
        title=title,
        references=references,
    )


def _shaped(paragraphs: Iterable[str]) -> Iterator[Piece]:
    """Headings and prose, each entry of the bibliography by itself; a heading may begin its
    paragraph.
    """
    inside = False
    for paragraph in paragraphs:
        first, _, rest = paragraph.strip().partition("\n")
        heading = heading_of(first)
        if heading is not None:
            inside = is_bibliography(heading.title)
            yield heading
        body = paragraph.strip() if heading is None else rest
        texts = _ENTRY.split(body.strip()) if inside else [_HYPHEN.sub("", body)]
        for text in texts:
            if text.strip():
                yield Prose(" ".join(text.split()))


def heading_of(line: str) -> Heading | None:
    """The heading that a line is: numbered, or one of the usual words."""
    line = line.strip()
    if not 3 <= len(line) <= LONGEST_HEADING:
        return None
    numbered = _NUMBERED.match(line)
    if numbered:
        number = numbered["number"]
        return Heading(
            number.count(".") + 1,
            numbered["title"].strip(),
            appendix=number[0].isalpha(),
        )
    if _KNOWN.match(line) or is_bibliography(line):
        return Heading(
            1,
            line.strip(" .:").capitalize(),
            appendix=line.casefold().startswith("appendix"),
        )
    return None


def bare(text: str) -> str:
    """The text without its marks."""
    parts = _KEPT.split(
        _BRACKETED_MATHS.sub(
            lambda found: f"${found[1].strip()}$",
            text,
        )
    )
    for at, part in enumerate(parts):
        if at % 2:
            parts[at] = part.strip("`") if part[0] == "`" else part
            continue
        part = _TAG.sub(
            " ",
            _NOTE.sub(" ", _LINK.sub(_link, part)),
        )
        for _ in range(3):
            part = _STRONG.sub(r"\2", part)
        parts[at] = _ESCAPED.sub(r"\1", part)
    return "".join(parts).strip()


def _link(found: re.Match[str]) -> str:
    """An address is kept where it is more than the words of the link."""
    words = found[1]
    address = found[2]
    if address.startswith("http") and address != words:
        return f"{words} ({address})"
    return words


def is_table(lines: Sequence[str], at: int) -> bool:
    """Whether a line with bars is followed by a rule."""
    below = ""
    if at + 1 < len(lines):
        below = lines[at + 1]
    return "|" in lines[at] and "|" in below and bool(_RULE.match(below[:2000]))


def table_of(lines: Sequence[str]) -> Table:
    """The cells; short rows are filled up."""
    rows = [_cells(line) for line in (lines[0], *lines[2:])]
    width = max(len(row) for row in rows)
    return Table(
        rows=tuple(
            (
                *row,
                *[""] * (width - len(row)),
            )
            for row in rows
        )
    )


def _cells(line: str) -> tuple[str, ...]:
    """Cells of a row; a bar inside a formula or after a backslash is not one."""
    line = line.strip()
    cells = _BAR.sub(lambda found: found[1] or "\0", line).split("\0")[line.startswith("|") :]
    ended = cells and not cells[-1].strip() and line.endswith("|")
    return tuple(bare(cell.replace("\\|", "|")) for cell in (cells[:-1] if ended else cells))


def captioned(pieces: Iterable[Piece]) -> list[Piece]:
    """Captions joined with what they name: the table, figure or listing before them, else after
    them.
    """
    found: list[Piece] = []
    for piece in pieces:
        named = None
        if found:
            named = _named(found[-1], piece) or _named(piece, found[-1])
        if named is not None:
            found.pop()
        found.append(named or piece)
    return found


def _named(piece: Piece, caption: Piece) -> Piece | None:
    """The piece with its caption; none where the other is not a caption, or one of something else."""
    if not isinstance(piece, Captioned) or piece.caption or not isinstance(caption, Prose):
        return None
    found = _CAPTION.match(caption.text.strip())
    if not found or not isinstance(piece, _CAPTIONED[found["kind"][:3].casefold()]):
        return None
    label = _LABEL.search(found["words"])
    words = bare(_LABEL.sub("", found["words"]))
    return replace(
        piece,
        caption=words,
        label=piece.label or (label[1] if label else found["number"]),
    )
