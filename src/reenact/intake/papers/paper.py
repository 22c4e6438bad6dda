"""A paper as data: every sentence, equation, table, figure, algorithm and reference has an id.

Ids read like places: section `3.1`, its second block `3.1:2`, the fourth sentence of that one
`3.1:2.4`. The abstract is section `0`. Ids depend on the text alone, so that the same paper read
twice has the same ids.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; formulas in it are LaTeX between dollar signs."""

    id: str
    text: str
    cites: tuple[str, ...] = ()
    """Keys of the references that it cites."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Sentences that belong together."""

    id: str
    sentences: tuple[Sentence, ...]
    page: int = 0
    """On which it begins, of a PDF; 0 where there are no pages."""

    @property
    def text(self) -> str:
        return " ".join(sentence.text for sentence in self.sentences)


@dataclass(frozen=True, slots=True)
class Equation:
    """A displayed formula, as LaTeX."""

    id: str = ""
    latex: str = ""
    label: str = ""
    """The author's label (`eq:loss`), or the printed number; empty when there is none."""
    page: int = 0

    @property
    def text(self) -> str:
        return f"$${self.latex}$$"


@dataclass(frozen=True, slots=True)
class Captioned:
    """What is apart from the text, under words of its own."""

    id: str = ""
    caption: str = ""
    label: str = ""
    page: int = field(default=0, kw_only=True)


@dataclass(frozen=True, slots=True)
class Table(Captioned):
    """A table as cells; a cell that spans several columns is repeated in each."""

    rows: tuple[tuple[str, ...], ...] = ()
    heads: int = 1
    """How many of the first rows are headings."""

    @property
    def text(self) -> str:
        rows = [f"| {' | '.join(row)} |" for row in self.rows]
        if rows:
            rows.insert(
                max(self.heads, 1),
                "|" + " --- |" * max(len(row) for row in self.rows),
            )
        return "\n".join(
            (
                f"Table {self.label}: {self.caption}",
                *rows,
            )
        )


@dataclass(frozen=True, slots=True)
class Figure(Captioned):
    """A figure: its caption, and its pixels where the source has them."""

    file: str = ""
    """Name inside the source; empty when only the caption is known."""
    image: bytes = b""
    """PNG or JPEG as it came; empty when there is none that can be shown."""

    @property
    def text(self) -> str:
        return f"Figure {self.label}: {self.caption}"


@dataclass(frozen=True, slots=True)
class Algorithm(Captioned):
    """Numbered steps, kept whole."""

    body: str = ""

    @property
    def text(self) -> str:
        return f"Algorithm {self.label}: {self.caption}\n{self.body}"


Block: TypeAlias = Paragraph | Equation | Table | Figure | Algorithm


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and what is under it, up to the next heading."""

    id: str
    level: int
    """1 for a section, 2 for a subsection, and so on."""
    title: str
    blocks: tuple[Block, ...]

    @property
    def heading(self) -> str:
        return f"{'#' * (self.level + 1)} {self.id} {self.title}"


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of the bibliography."""

    key: str
    text: str
    """The entry as it reads."""
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    arxiv: str = ""
    doi: str = ""
    url: str = ""
    cited_in: tuple[str, ...] = ()
    """Ids of the sentences, and of the tables and captions, that cite it, in order."""


@dataclass(frozen=True, slots=True)
class Lost:
    """Something of the source that did not come through."""

    kind: str
    """equation, table, figure, citation, macro, environment, file, page, text."""
    what: str
    """A sentence for the user."""
    where: str = ""


@dataclass(frozen=True)
class Paper:
    """A paper, whole."""

    title: str
    authors: tuple[str, ...]
    source: str
    """Where it came from, for a reader."""
    form: str
    """latex, html, markdown, pdf or text: how much to trust formulas and tables."""
    sections: tuple[Section, ...]
    references: tuple[Reference, ...]
    lost: tuple[Lost, ...]

    def blocks(self) -> Iterator[Block]:
        for section in self.sections:
            yield from section.blocks

    def sentences(self) -> Iterator[Sentence]:
        for block in (one for one in self.blocks() if isinstance(one, Paragraph)):
            yield from block.sentences

    @cached_property
    def by_id(self) -> dict[str, Section | Block | Sentence]:
        """Everything that has an id."""
        everything = (
            *self.sections,
            *self.blocks(),
            *self.sentences(),
        )
        return {part.id: part for part in everything}

    def text(
        self,
        *,
        ids: bool = True,
        hide: frozenset[str] = frozenset(),
    ) -> str:
        """The paper as a reader or a model sees it: an id before each sentence, hidden blocks
        named only.
        """
        lines = [f"# {self.title}"]
        for section in self.sections:
            lines += [
                section.heading,
                *(_shown(block, ids, hide) for block in section.blocks),
            ]
        return "\n\n".join(lines)

    def find(self, quote: str) -> tuple[str, ...]:
        """Ids of what the quote stands in, in order; empty when the paper does not say that.
        Compared without spaces, case, punctuation of maths and typography; a quote may run over
        several sentences, and stand in an equation, a table, a caption or an algorithm.
        """
        wanted = plain(quote)
        text, marks = self._searchable
        at = text.find(wanted)
        if at < 0 or len(wanted) < 3:
            return ()
        return tuple(name for name, start, stop in marks if start < at + len(wanted) and at < stop)

    @cached_property
    def _searchable(self) -> tuple[str, list[tuple[str, int, int]]]:
        text = ""
        marks = []
        for block in self.blocks():
            for part in block.sentences if isinstance(block, Paragraph) else (block,):
                start = len(text)
                text += plain(part.text)
                marks.append((part.id, start, len(text)))
            # Paragraphs run on into one another for the eye, but not equations into tables.
            text += "" if isinstance(block, Paragraph) else "\0"
        return text, marks


def plain(text: str) -> str:
    """A text without all that two copies of the same sentence may differ in."""
    return re.sub(
        r"[\W_]+",
        "",
        unicodedata.normalize("NFKC", text).casefold(),
    )


def _shown(block: Block, ids: bool, hide: frozenset[str]) -> str:
    if block.id not in hide and not ids:
        return block.text
    parts = block.sentences if isinstance(block, Paragraph) and block.id not in hide else (block,)
    withheld = "(withheld: results of the paper)"
    return " ".join(f"[{one.id}] {withheld if one.id in hide else one.text}" for one in parts)
