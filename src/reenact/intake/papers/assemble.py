"""Pieces -> Paper: ids by place, sentences, citations. The same for every form of paper.

A reader of one form hands on a Draft: pieces in reading order, not yet numbered. In a sentence
abbreviations, decimals, formulas, citations and addresses stay whole; joined by single spaces the
sentences are the paragraph again, with its white space made single.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import TypeAlias

from reenact.errors import UnreadablePaper
from reenact.intake.papers import paper as doc
from reenact.intake.papers.references import (
    Bibliography,
    cited_keys,
    is_bibliography,
    is_entry,
    listed,
)

MOST_PIECES = 50_000
ABSTRACT = "Abstract"
_APPENDIX = frozenset(("appendix", "appendices", "supplement", "supplementary material"))
_WORD = re.compile(r"[^\W_]")
_NUMBER = re.compile(
    r"^(?:(?:section|appendix)\s+)?(?:[A-Z]|\d{1,2})(?:\.\d{1,2}){0,4}[.:)]?\s+(?=\S)",
    re.I,
)
_WHOLE = re.compile(
    # Formulas, citations, addresses: no sentence ends within one.
    r"\$\$[^$]{1,4000}\$\$|(?<!\\)\$(?:[^$\\]|\\.){1,1000}\$|\[@[^\[\]]{1,500}\]"
    r"|\b(?:https?://|www\.)[^\s<>]{0,500}[^\s<>.,;:!?)]"
)
_END = re.compile(r"[.!?…]+[\"'”’)\]}*_]{0,3}(?= )")
_OPENING = re.compile(
    r"[\"'“‘(\[{*_$]*[^\W_a-z]|[\"'“‘(\[{*_]*\\[a-zA-Z]|[\"'“‘(]*\$|\[@|\[[a-zA-Z]+:[^\s\[\]]|[•–—-] "
)
_LAST_WORD = re.compile(r"[(\[\"'“]?([^\s()\[\]\"'“]+?)[.!?…]+[\"'”’)\]}*_]*$")
_ALWAYS = frozenset(
    {
        "e.g",
        "i.e",
        "cf",
        "viz",
        "resp",
        "vs",
        "fig",
        "figs",
        "eq",
        "eqs",
        "eqn",
        "eqns",
        "sec",
        "secs",
        "tab",
        "tabs",
        "thm",
        "lem",
        "alg",
        "algs",
        "appx",
        "chap",
        "approx",
        "ca",
        "dr",
        "prof",
        "mr",
        "mrs",
        "ms",
        "st",
        "w.r.t",
        "s.t",
    }
)
"""Whatever follows, the sentence goes on."""
_COUNTING = frozenset(
    {
        "no",
        "nos",
        "nr",
        "vol",
        "pp",
        "p",
        "ch",
        "ref",
        "refs",
        "app",
        "prop",
        "def",
        "defs",
        "cor",
        "sect",
        "supp",
        "suppl",
        "tbl",
    }
)
_COUNTED = re.compile(r"[(\[]?[\d$]|\[[a-zA-Z]+:")
"""A number, or the label that stands for one."""
_BEFORE_BRACKETS = frozenset(["al", "etc"])
_BEFORE_NAMES = ("and", "by", "with", "from", "to")
_INITIAL = re.compile(r"[A-Z](?:\.-?[A-Z])*")


@dataclass(frozen=True, slots=True)
class Heading:
    """Begins a section."""

    level: int
    """1 for a section."""
    title: str
    appendix: bool = False
    starred: bool = False
    """The paper gives it no number."""
    number: str = ""
    """That the paper gives it, where its place alone does not tell."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph. Formulas are between dollar signs, citations as `[@key; @key]`."""

    text: str
    page: int = 0


Piece: TypeAlias = Heading | Prose | doc.Equation | doc.Table | doc.Figure | doc.Algorithm
"""Blocks that are not prose have no id yet."""


@dataclass(frozen=True)
class Draft:
    """A paper before its parts have ids."""

    form: str
    pieces: tuple[Piece, ...]
    title: str = ""
    authors: tuple[str, ...] = ()
    abstract: tuple[Piece, ...] = ()
    references: tuple[doc.Reference, ...] = ()
    lost: tuple[doc.Lost, ...] = ()


def assemble(draft: Draft, source: str) -> doc.Paper:
    """The whole paper. UnreadablePaper when there is not a word in it."""
    if len(draft.pieces) > MOST_PIECES:
        raise UnreadablePaper(
            f"The paper has more than {MOST_PIECES} paragraphs. Received: {source}"
        )
    prose = [piece for piece in (*draft.abstract, *draft.pieces) if isinstance(piece, Prose)]
    if not any(_WORD.search(piece.text) for piece in prose):
        why = f"The paper says nothing: no paragraph was found in it. Received: {source}"
        instead = "Name the paper as LaTeX source, HTML, Markdown, plain text or a PDF with text."
        raise UnreadablePaper(why, next_step=instead)
    sections = tuple(_sections(draft))
    front = [piece for piece in _grouped(draft.pieces)[0][1] if isinstance(piece, Prose)]
    words = (split(piece.text)[0][:120] for piece in (*front, *prose) if piece.text.strip())
    title = " ".join(draft.title.split()) or next(words, "")
    cites: dict[str, list[str]] = {}
    for block in (block for section in sections for block in section.blocks):
        for part in block.sentences if isinstance(block, doc.Paragraph) else (block,):
            keys = (
                part.cites
                if isinstance(part, doc.Sentence)
                else cited_keys(part.text, Bibliography())
            )
            for key in keys:
                cites.setdefault(key, []).append(part.id)
    entries: dict[str, doc.Reference] = {}
    for one in draft.references:
        entries.setdefault(
            one.key,
            replace(
                one,
                cited_in=tuple(cites.get(one.key, ())),
            ),
        )
    why = "is cited, and the bibliography has no such entry."
    unknown = (key for key in cites if key not in entries)
    unresolved = [
        doc.Lost(
            "citation",
            f"{key} {why}",
            cites[key][0],
        )
        for key in unknown
    ]
    lost = tuple(dict.fromkeys((*draft.lost, *unresolved)))
    return doc.Paper(
        title,
        authors=draft.authors,
        source=source,
        form=draft.form,
        sections=sections,
        references=tuple(entries.values()),
        lost=lost,
    )


def cut_references(
    pieces: Iterable[Piece],
) -> tuple[list[Piece], tuple[doc.Reference, ...]]:
    """The pieces without the section that is the bibliography, and its entries, a paragraph
    each.
    """
    kept: list[Piece] = []
    entries: list[str] = []
    inside = seen = False
    for piece in pieces:
        if isinstance(piece, Heading):
            inside = is_bibliography(piece.title)
            seen = seen or inside
            kept += [] if inside else [piece]
        elif seen and isinstance(piece, Prose) and is_entry(piece.text):
            # Of two columns a converter may read a heading of one in the middle of the other.
            entries.append(piece.text)
        elif inside and isinstance(piece, Prose | doc.Equation):
            text = piece.text if isinstance(piece, Prose) else piece.latex
            entries.append(re.sub(r"^\s*[-*+]\s+", "", text))
        else:
            kept.append(piece)
    return kept, listed(entries)


def _sections(draft: Draft) -> Iterable[doc.Section]:
    """The sections with their blocks numbered."""
    known = Bibliography.of(draft.references)
    numbers = _Numbers()
    groups = _grouped(draft.pieces)
    front = [
        *draft.abstract,
        *groups[0][1],
    ]
    if front:
        yield doc.Section(
            "0",
            1,
            ABSTRACT,
            tuple(_blocks("0", front, known)),
        )
    headed = [(heading, pieces) for heading, pieces in groups[1:] if heading is not None]
    names: set[str] = set()
    for at, (heading, pieces) in enumerate(headed):
        name = numbers.next(
            heading,
            _is_aside([one for one, _ in headed[at:]]),
        )
        # A paper's own numbers may come out of order.
        while name in names:
            name += "b"
        names.add(name)
        title = _NUMBER.sub("", heading.title).strip()
        yield doc.Section(
            name,
            len(numbers.levels),
            title,
            tuple(_blocks(name, pieces, known)),
        )


@dataclass
class _Numbers:
    """Numbers the sections."""

    counts: list[int] = field(default_factory=list)
    asides: list[int] = field(default_factory=list)
    """On each level: sections without a number since the last one with."""
    levels: list[int] = field(default_factory=list)
    lettered: bool = False

    def next(self, heading: Heading, aside: bool) -> str:
        """A section lies in the nearest one before it of a smaller level, whatever levels are left
        out. One aside has the number of the one before it, and a letter.
        """
        if heading.appendix and not self.lettered:
            self.lettered = True
            self.counts = []
            self.asides = []
            self.levels = []
        self.levels = [
            *(one for one in self.levels if one < heading.level),
            heading.level,
        ]
        level = len(self.levels)
        self.counts = [
            *self.counts,
            *[0] * level,
        ][:level]
        self.asides = [
            *self.asides,
            *[0] * level,
        ][:level]
        self.asides[-1] = self.asides[-1] + 1 if aside else 0
        self.counts[-1] += not aside
        if re.fullmatch(
            rf"(?:\d+|[A-Z])(?:\.\d+){{{level - 1}}}",
            heading.number,
        ):
            first, *rest = heading.number.split(".")
            self.counts = [
                ord(first) - ord("A") + 1 if first.isalpha() else int(first),
                *map(int, rest),
            ]
        names = [str(count) for count in self.counts]
        names[0] = _letter(self.counts[0]) or "0" if self.lettered else names[0]
        return ".".join(
            f"{one}{_letter(mark).lower()}" for one, mark in zip(names, self.asides, strict=True)
        )


def _blocks(
    section: str,
    pieces: Iterable[Piece],
    known: Bibliography,
) -> Iterable[doc.Block]:
    number = 1
    for piece in pieces:
        name = f"{section}:{number}"
        texts = enumerate(
            split(piece.text) if isinstance(piece, Prose) else (),
            start=1,
        )
        sentences = tuple(
            doc.Sentence(
                f"{name}.{at}",
                text,
                cited_keys(text, known),
            )
            for at, text in texts
        )
        if isinstance(piece, Prose) and sentences:
            yield doc.Paragraph(name, sentences, piece.page)
        elif not isinstance(piece, Prose | Heading):
            yield replace(piece, id=name)
        else:
            continue
        number += 1


def _grouped(pieces: Iterable[Piece]) -> list[tuple[Heading | None, list[Piece]]]:
    """Pieces by the heading above them; an abstract's heading begins no section."""
    groups: list[tuple[Heading | None, list[Piece]]] = [(None, [])]
    for piece in pieces:
        last, held = groups[-1]
        if not isinstance(piece, Heading):
            held.append(piece)
            continue
        # A heading that says that appendices follow, and nothing else, takes no letter from them.
        title = ""
        if last is not None:
            title = last.title.strip().casefold()
        if last and title in _APPENDIX and last.appendix and last.level == piece.level and not held:
            groups.pop()
        if piece.title.strip().casefold() != "abstract":
            groups.append((piece, []))
    return groups


def _is_aside(headings: Sequence[Heading]) -> bool:
    """Whether the first section has no number in the paper while one that follows next to it has:
    then it must not count, or the numbers of all that follow are not the paper's.
    """
    first = headings[0]
    rest = takewhile(
        lambda one: one.level >= first.level and one.appendix == first.appendix,
        headings[1:],
    )
    return first.starred and any(one.level == first.level and not one.starred for one in rest)


def _letter(number: int) -> str:
    """A, B, ..., Z, AA: the number of an appendix."""
    letters = ""
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def split(paragraph: str) -> tuple[str, ...]:
    """The sentences of a paragraph, in order; none when it is empty."""
    text = " ".join(paragraph.split())
    if not text:
        return ()
    closed = [found.span() for found in _WHOLE.finditer(text)]
    cuts: list[int] = []
    behind = 0
    for end in _END.finditer(text):
        while behind < len(closed) and closed[behind][1] <= end.start():
            behind += 1
        inside = behind < len(closed) and closed[behind][0] <= end.start()
        if not inside and _ends(
            text,
            end.start(),
            end.end(),
        ):
            cuts.append(end.end())
    starts = [0, *(cut + 1 for cut in cuts)]
    return tuple(text[start:stop] for start, stop in zip(starts, [*cuts, len(text)], strict=True))


def _ends(text: str, stop: int, cut: int) -> bool:
    """Whether the stop before `cut` ends a sentence."""
    follows = text[cut + 1 : cut + 40]
    if not _OPENING.match(follows):
        return False
    if text[stop] != ".":
        return True
    found = _LAST_WORD.search(text[max(0, cut - 60) : cut])
    word = found[1] if found else ""
    small = word.casefold()
    if small in _ALWAYS or (small in _COUNTING and _COUNTED.match(follows)):
        return False
    if small in _BEFORE_BRACKETS and follows.startswith(("(", "[")):
        return False
    if not _INITIAL.fullmatch(word):
        return True
    # `J. Smith`: a single capital is an initial, unless it names a thing (`matrix A.`).
    earlier = text[: cut - 1 - len(word)].rstrip()[-30:].split(" ")[-1]
    return bool(re.fullmatch(r"[a-z][a-z-]+", earlier)) and earlier not in _BEFORE_NAMES
