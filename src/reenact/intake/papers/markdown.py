"""Markdown -> Draft, line by line: headings, formulas, tables, figures, listings, references."""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from reenact.intake.papers import converted
from reenact.intake.papers.assemble import Draft, Heading, Piece, Prose, cut_references
from reenact.intake.papers.converted import compact, unnamed
from reenact.intake.papers.paper import Algorithm, Equation, Figure, Lost
from reenact.intake.papers.pictures import Pictures
from reenact.intake.papers.plain import bare, captioned, is_table, table_of
from reenact.intake.papers.references import is_bibliography

LONGEST_HEADING = 500
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.S)
_ATX = re.compile(r"(#{1,6})\s+(.*?)\s*#*\s*(?:\{[^{}]*\})?$")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})\s*([^\s`{]*)")
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(\S.*)")
_NUMBERED_ENTRY = re.compile(r"\s*(?:\[[^\[\]\s]{1,80}\]:?|\d{1,4}[.)]|[-*+]|@\S+:)\s+\S")
_IMAGE = re.compile(
    r"!\[(?P<alt>[^\]]{0,600})\]\((?P<file>[^)\s]{0,400})[^)]{0,400}\)\s*(?:\{#(?P<label>[^\s}]+)[^}]*\})?"
)
_LABELLED = re.compile(r"\\(?:label|tag)\{([^{}]*)\}|\{#([^\s}]+)[^}]*\}\s*$")
_FIGURE_NAME = re.compile(r"^(?:figure|fig\.)\s*(\w{1,5})\s*[:.]\s*", re.I)
_LETTER = re.compile(r"[^\W_]")
_HTML_TABLE = re.compile(r"(<table\b.*?</table>)", re.S | re.I)
LONGEST = 20_000
_BLOCK = re.compile(r"\A---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S)


def read_markdown(text: str, pictures: Pictures) -> Draft:
    """The paper in a Markdown text."""
    facts, body = _front_matter(
        _COMMENT.sub(
            lambda found: "\n" * found[0].count("\n"),
            text,
        )
    )
    reader = _Reader(body.split("\n"), pictures)
    pieces = converted.numbered(reader.pieces())
    title, pieces = _titled(
        _words(facts.get("title")),
        pieces,
    )
    people, pieces = converted.first_page(pieces) if title else ((), pieces)
    named = facts.get("authors") or facts.get("author") or list(people)
    listed = named if isinstance(named, list) else [named]
    authors = (one.get("name") if isinstance(one, dict) else one for one in listed)
    abstract = _words(facts.get("abstract"))
    pieces, references = cut_references(pieces)
    lost = (
        *pictures.lost,
        *reader.lost,
        *converted.doubtful(pieces),
    )
    above = (Prose(abstract),) if abstract else ()
    below = tuple(_without_marks(pieces))
    return Draft(
        "markdown",
        pieces=below,
        title=title,
        authors=tuple(filter(None, map(_words, authors))),
        abstract=above,
        references=references,
        lost=lost,
    )


@dataclass
class _Reader:
    """Goes down the lines once."""

    lines: list[str]
    pictures: Pictures
    lost: list[Lost] = field(default_factory=list)
    at: int = 0
    listing: bool = False
    """Inside the bibliography, where a broken line ends an entry."""

    def pieces(self) -> list[Piece]:
        found: list[Piece] = []
        while self.at < len(self.lines):
            found += self._next()
        return captioned(found)

    def _next(self) -> Iterator[Piece]:
        line = self.lines[self.at]
        heading = _ATX.match(line[:LONGEST_HEADING])
        fence = _FENCE.match(line)
        if not line.strip():
            self.at += 1
        elif named := converted.algorithm_at(self.lines, self.at):
            algorithm, self.at = named
            yield algorithm
        elif heading:
            self.at += 1
            self.listing = is_bibliography(bare(heading[2]))
            yield Heading(
                len(heading[1]),
                compact(bare(heading[2])),
            )
        elif fence:
            yield from self._fenced(fence[1], fence[2])
        elif line.strip().startswith(("$$", "\\[")):
            yield from self._formula(line.strip()[:2])
        elif is_table(self.lines, self.at):
            begin = self.at
            self.at = self._next_where(lambda row: "|" not in row)
            yield table_of(self.lines[begin : self.at])
        else:
            yield from self._paragraph()

    def _next_where(self, wanted: Callable[[str], bool]) -> int:
        """The next line of which this is so, or the end."""
        below = range(self.at + 1, len(self.lines))
        for at in below:
            if wanted(self.lines[at]):
                return at
        return len(self.lines)

    def _fenced(self, mark: str, kind: str) -> Iterator[Piece]:
        end = self._next_where(lambda line: line.strip().startswith(mark))
        body = "\n".join(self.lines[self.at + 1 : end])
        self.at = end + 1
        if kind == "math":
            yield _equation(body)
        elif body.strip():
            yield Algorithm(body=body)

    def _formula(self, mark: str) -> Iterator[Piece]:
        """A displayed formula from this line to the closing mark; what follows the mark is text
        again.
        """
        rest = "\n".join(self.lines[self.at : self.at + 400])
        opened = rest.index(mark) + 2
        closed = rest.find(
            "$$" if mark == "$$" else "\\]",
            opened,
        )
        if closed < 0:
            self.lost.append(Lost("equation", "A displayed formula has no end.", rest[:60]))
            self.lines[self.at] = (
                self.lines[self.at]
                .replace("$$", "")
                .replace(
                    "\\[",
                    "",
                )
            )
            return
        self.at += rest.count("\n", 0, closed)
        tail = rest[closed + 2 :].partition("\n")[0]
        label = re.match(r"\s*(\{#[^}]*\})|", tail)
        assert label is not None
        body = converted.compact_formula(rest[opened:closed].strip())
        if converted.is_cut_off(body):
            self.lost.append(Lost("equation", "A displayed formula is cut off.", body[:60]))
        yield _equation(body + (label[1] or ""))
        self.lines[self.at] = tail[label.end() :]
        self.at += not _LETTER.search(self.lines[self.at])

    def _paragraph(self) -> Iterator[Piece]:
        taken = [self.lines[self.at].lstrip("> ")]
        self.at += 1
        if is_bibliography(taken[0]):
            self.listing = True
            yield Heading(1, taken[0].strip())
            return
        under = ""
        if self.at < len(self.lines):
            under = self.lines[self.at].strip()
        if re.fullmatch(r"={3,}|-{3,}", under):
            self.at += 1
            yield Heading(
                1 if under[0] == "=" else 2,
                bare(taken[0]),
            )
            return
        if re.fullmatch(r"\s*(?:[-*_]\s*){3,}", taken[0]):
            return
        while self.at < len(self.lines) and not self._breaks(self.lines[self.at]):
            taken.append(self.lines[self.at].lstrip("> "))
            self.at += 1
        if self.listing:
            for text in re.split(r"[ \t]{2,}\n", "\n".join(taken)):
                if text.strip():
                    yield Prose(text)
        else:
            yield from self._prose(" ".join(taken))

    def _breaks(self, line: str) -> bool:
        line = line[:LONGEST_HEADING]
        begins = any(one.match(line) for one in (_ATX, _FENCE, _ITEM, _NUMBERED_ENTRY))
        shown = not line.strip() or line.strip().startswith(("$$", "\\[", "!["))
        return begins or shown or is_table(self.lines, self.at)

    def _prose(self, text: str) -> Iterator[Piece]:
        for image in _IMAGE.finditer(text):
            caption = bare(image["alt"])
            number = _FIGURE_NAME.match(caption)
            label = image["label"] or (number[1] if number else "")
            pixels = self.pictures.load(image["file"])
            yield Figure(
                "",
                _FIGURE_NAME.sub("", caption),
                label,
                file=image["file"],
                image=pixels,
            )
        for at, part in enumerate(_HTML_TABLE.split(_IMAGE.sub(" ", text))):
            if at % 2:
                yield unnamed(part) or converted.html_table(part)
                continue
            if "<table" in part.casefold():
                self.lost.append(Lost("table", "A table written as HTML has no end.", part[:60]))
            if part.strip():
                yield unnamed(part) or Prose(compact(part))


def _equation(body: str) -> Equation:
    label = _LABELLED.search(body)
    name = ""
    if label:
        name = label[1] or label[2] or ""
    return Equation(
        latex=_LABELLED.sub("", body).strip(),
        label=name,
    )


def _titled(
    title: str,
    pieces: list[Piece],
) -> tuple[str, list[Piece]]:
    """The only heading of the first level is the title, and the others then move up; or one without
    a number above numbered ones, which stay.
    """
    if not title and pieces and isinstance(pieces[0], Heading) and pieces[0].starred:
        return pieces[0].title, pieces[1:]
    first = [piece for piece in pieces if isinstance(piece, Heading) and piece.level == 1]
    deeper = any(isinstance(piece, Heading) and piece.level > 1 for piece in pieces)
    if (
        len(first) != 1
        or pieces[0] is not first[0]
        or (title and not (first[0].title == title and deeper))
    ):
        return title, pieces
    lifted = (
        replace(one, level=one.level - 1) if isinstance(one, Heading) else one for one in pieces[1:]
    )
    return first[0].title, list(lifted)


def _without_marks(pieces: list[Piece]) -> Iterator[Piece]:
    """The pieces with their inline marks taken off; what follows the heading of an appendix is
    one.
    """
    appendix = False
    left = sum(isinstance(piece, Heading) and piece.number[:1].isdigit() for piece in pieces)
    for piece in pieces:
        if isinstance(piece, Heading):
            left -= piece.number[:1].isdigit()
            named = not left and re.match(r"appendi(?:x|ces)\b", piece.title, re.I)
            appendix = appendix or bool(named)
            yield replace(piece, appendix=appendix or piece.appendix)
        elif isinstance(piece, Prose):
            item = _ITEM.match(piece.text)
            yield Prose(bare(item[1] if item else piece.text))
        else:
            yield piece


def _front_matter(text: str) -> tuple[Mapping[str, object], str]:
    """What the block says, and the text with its lines made empty, so that places stay the same."""
    import yaml

    block = _BLOCK.match(text[:LONGEST])
    if not block:
        return {}, text
    facts = None
    with suppress(yaml.YAMLError, RecursionError, ValueError):
        facts = yaml.safe_load(block[1])
    return facts if isinstance(facts, dict) else {}, "\n" * block[0].count("\n") + text[
        block.end() :
    ]


def _words(value: object) -> str:
    if isinstance(value, str | int | float):
        return " ".join(str(value).split())
    return ""
