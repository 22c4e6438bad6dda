"""HTML -> Draft: pages that LaTeXML makes (arXiv, ar5iv) and ordinary ones, with their formulas as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from reenact.intake.papers.assemble import FOOTNOTE
from reenact.intake.papers.boxed import result_json, run_script
from reenact.intake.papers.html_node import HEADING, Element, element_of, sectioned, tex_of
from reenact.intake.papers.html_table import grid_of
from reenact.intake.papers.html_text import DISPLAYED, Words
from reenact.intake.papers.paper import Lost, Reference
from reenact.intake.papers.pictures import Pictures
from reenact.intake.papers.pieces import Draft, Formula, Heading, Picture, Piece, Prose, Steps
from reenact.intake.papers.reference_text import HEADINGS, keyed, reference_of
from reenact.sandbox.box import Sandbox

_BLOCK = frozenset(
    """
    p div section article main header table ul ol dl figure pre blockquote h1 h2 h3 h4 h5 h6 center details
    """.split()  # noqa: SIM905 - a list of words reads better as words
)
_NUMBER = re.compile(r"\s*(?:table|figure|fig\.|algorithm|listing)\s*([\w.]{1,8})\s*[:.]?\s*", re.I)
_LETTER = re.compile(r"[^\W_]")


def read_html(text: str, name: str, pictures: Pictures, *, box: Sandbox) -> Draft:
    """The paper on a page."""
    result = run_script(
        "html_tree", box=box, name=name, stdin=text.encode("utf-8", "replace"), collect=("tree.json",)
    )
    told = result_json(result, "tree.json", name)
    root = sectioned(element_of(told["tree"]), HEADINGS)
    references = tuple(_references(root))
    walk = _Walk(Words(frozenset(one.key for one in references)), pictures)
    title, authors = _front(root, walk.words)
    body = (
        root.first(lambda one: one.tag in ("article", "main"))
        or root.first(lambda one: one.tag == "body")
        or root
    )
    pieces = _lifted([piece for piece in walk.block(body) if not _is_title(piece, title)])
    lost = [*walk.words.lost, *pictures.lost]
    if told["unseen"]:
        lost.append(Lost("text", f"Elements that no reader would see were left out: {told['unseen']}."))
    return Draft(
        "html",
        tuple(pieces),
        title=title,
        authors=authors,
        references=references,
        lost=tuple(lost),
        texts={name: text},
    )


def _is_title(piece: Piece, title: str) -> bool:
    return isinstance(piece, Heading) and bool(title) and piece.title == title


def _lifted(pieces: list[Piece]) -> list[Piece]:
    """Headings counted from the first level that is used."""
    top = min((piece.level for piece in pieces if isinstance(piece, Heading)), default=1)
    return [
        replace(piece, level=piece.level - top + 1) if isinstance(piece, Heading) else piece
        for piece in pieces
    ]


@dataclass
class _Walk:
    words: Words
    pictures: Pictures
    appendix: bool = False

    def block(self, element: Element) -> Iterator[Piece]:
        """What stands in a container: blocks by their kind, loose words as paragraphs."""
        loose: list[Element | str] = []
        for child in element.children:
            if isinstance(child, Element) and self._is_block(child):
                yield from self._prose(loose)
                loose = []
                yield from self._one(child)
            else:
                loose.append(child)
        yield from self._prose(loose)

    def _is_block(self, one: Element) -> bool:
        if one.has("ltx_note", "ltx_cite") or one.tag == "cite":
            return False
        return (
            one.tag in _BLOCK
            or one.has("ltx_p", "ltx_equation", "ltx_figure")
            or (one.tag in ("span", "a", "li") and one.first(lambda part: part.tag in _BLOCK) is not None)
        )

    def _one(self, one: Element) -> Iterator[Piece]:
        heading = HEADING.match(one.tag)
        if _is_bibliography(one) or one.has("ltx_authors", "ltx_page_footer", "ltx_dates", "ltx_page_navbar"):
            return
        if heading:
            yield from self._heading(one, int(heading[1]))
        elif one.has("ltx_equation", "ltx_equationgroup", "ltx_eqn_table", "ltx_eqn_align"):
            yield from self._equations(one)
        elif one.tag == "table":
            yield grid_of(one, self.words)
        elif one.tag == "figure" or one.has("ltx_figure", "ltx_table", "ltx_float"):
            yield from self._figure(one)
        elif one.tag == "pre" or one.has("ltx_listing"):
            yield from self._listing(one)
        elif one.tag in ("ul", "ol", "dl"):
            for item in one.children:
                if isinstance(item, Element):
                    yield from self.block(item)
        else:
            self.appendix = self.appendix or one.has("ltx_appendix")
            yield from self.block(one)

    def _heading(self, one: Element, level: int) -> Iterator[Piece]:
        title = self.words.line(one)
        if title:
            lettered = self.appendix or title.casefold().startswith("appendix")
            yield Heading(level, title, lettered)

    def _equations(self, one: Element) -> Iterator[Piece]:
        rows = list(one.all(lambda part: part.tag == "tr")) or [one]
        for row in rows:
            latex = " ".join(filter(None, map(tex_of, row.all(lambda part: part.tag == "math"))))
            tag = row.first(lambda part: part.has("ltx_tag_equation", "ltx_tag_equationgroup"))
            if latex:
                yield Formula(latex, tag.words().strip(" ()\n") if tag else "")

    def _figure(self, one: Element) -> Iterator[Piece]:
        caption = one.first(lambda part: part.tag in ("figcaption", "caption") or part.has("ltx_caption"))
        said = self.words.line(caption) if caption else ""
        number = _NUMBER.match(caption.words()) if caption else None
        label = number[1] if number else ""
        said = _NUMBER.sub("", said, count=1) if _NUMBER.match(said) else said
        if one.has("ltx_float_algorithm", "ltx_algorithm") or one.first(
            lambda part: part.has("ltx_listingline")
        ):
            yield Steps(_lines(one, self.words), said, label)
            return
        tables = list(one.all(lambda part: part.tag == "table"))
        for table in tables:
            grid = grid_of(table, self.words)
            yield replace(grid, caption=grid.caption or said, label=grid.label or label)
        images = [] if tables else list(one.all(lambda part: part.tag == "img"))
        for image in images:
            file = image.attributes.get("src", "")
            yield Picture(said or image.attributes.get("alt", ""), label, file, self._pixels(file))
        if not tables and not images and said:
            yield Picture(said, label)

    def _pixels(self, file: str) -> bytes:
        return b"" if re.match(r"[a-z]+:", file) else self.pictures.load(file)

    def _listing(self, one: Element) -> Iterator[Piece]:
        body = _lines(one, self.words)
        if body.strip():
            yield Steps(body)

    def _prose(self, loose: list[Element | str]) -> Iterator[Piece]:
        """Loose words; a displayed formula stands between the parts."""
        text = self.words.text(loose)
        for number, part in enumerate(text.split(DISPLAYED)):
            if number % 2:
                label = re.search(r"\\(?:label|tag)\{([^{}]*)\}", part)
                yield Formula(
                    re.sub(r"\\(?:label|tag)\{[^{}]*\}", "", part).strip(), label[1] if label else ""
                )
            elif _LETTER.search(part):
                yield Prose(" ".join(part.split()))
        for image in (one for part in loose if isinstance(part, Element) for one in _images(part)):
            file = image.attributes.get("src", "")
            yield Picture(image.attributes.get("alt", ""), "", file, self._pixels(file))
        yield from (Prose(FOOTNOTE + note) for note in self.words.notes)
        self.words.notes.clear()


def _images(part: Element) -> Iterator[Element]:
    if part.tag == "img":
        yield part
    yield from part.all(lambda one: one.tag == "img")


def _lines(one: Element, words: Words) -> str:
    lines = list(one.all(lambda part: part.has("ltx_listingline")))
    if lines:
        return "\n".join(words.line(line) for line in lines)
    inner = one.first(lambda part: part.tag == "pre") or one
    return inner.words().strip("\n")


def _front(root: Element, words: Words) -> tuple[str, tuple[str, ...]]:
    heading = root.first(lambda one: one.has("ltx_title_document")) or root.first(lambda one: one.tag == "h1")
    title = words.line(heading) if heading else ""
    if not title:
        page = root.first(lambda one: one.tag == "title")
        title = " ".join(page.words().split()) if page else ""
    metas = root.all(
        lambda one: one.tag == "meta" and one.attributes.get("name") in ("citation_author", "author")
    )
    names = [one.attributes.get("content", "") for one in metas]
    if not names:
        people = root.all(lambda one: one.has("ltx_personname"))
        names = [name for one in people for name in re.split(r"\s{3,}|\n|,|&", one.words().strip())[:1]]
    words.notes.clear()
    return title, tuple(" ".join(name.split()) for name in names if _LETTER.search(name))


def _is_bibliography(one: Element) -> bool:
    named = one.has("ltx_bibliography", "references", "bibliography") or one.id in (
        "references",
        "refs",
        "bib",
    )
    if named and not HEADING.match(one.tag):
        return True
    heading = next((child for child in one.children if isinstance(child, Element)), None)
    return bool(
        one.tag == "section"
        and heading
        and HEADING.match(heading.tag)
        and heading.words().strip(" .:\n").casefold() in HEADINGS
    )


def _references(root: Element) -> Iterator[Reference]:
    """Entries of the bibliography; the id of each is its key."""
    for place in root.all(_is_bibliography):
        entries = list(place.all(lambda one: one.tag in ("li", "dd") or one.has("csl-entry", "ltx_bibitem")))
        for number, entry in enumerate(entries, start=1):
            said = " ".join(" ".join(_entry_words(entry)).split())
            if entry.id:
                yield reference_of(entry.id, said)
            elif said:
                yield keyed(said, number)


def _entry_words(entry: Element) -> Iterator[str]:
    """The words of an entry without the number in front; the address of a link counts where it is one."""
    for child in entry.children:
        if isinstance(child, str):
            yield child
        elif not child.has("ltx_tag_bibitem", "ltx_tag"):
            yield from _entry_words(child)
            address = child.attributes.get("href", "")
            if address.startswith("http") and address not in child.words():
                yield f" {address} "
