"""PDF -> Draft. Text, captions and tables come through; formulas are not to be trusted, and that is said."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Any

from reenact.errors import InputError, MissingExtra, UnreadablePaper
from reenact.intake.papers.boxed import LIMITS, result_json, run_script
from reenact.intake.papers.paper import Lost
from reenact.intake.papers.pdf_crops import cropped
from reenact.intake.papers.pdf_lines import Line, Page, bare_pages, body_size, title_of
from reenact.intake.papers.pdf_paragraphs import Paragraphs
from reenact.intake.papers.pieces import Draft, Formula, Grid, Heading, Piece, Prose
from reenact.intake.papers.reference_text import HEADINGS, keyed
from reenact.sandbox.box import Limits, Sandbox

PACKAGES = ("pypdfium2", "pdfplumber")
TRUST = "Formulas of a PDF come as loose signs: none of them is to be trusted. LaTeX or HTML keeps them."


class PdfReader(StrEnum):
    """What reads a PDF."""

    BUILTIN = "builtin"
    """pdfium and pdfplumber: quick, and formulas are loose signs."""
    MINERU = "mineru"
    """The program MinerU, which must be installed: minutes a paper, formulas as LaTeX."""
    AUTO = "auto"
    """MinerU where it is installed, and the built-in reader where it is not, or fails."""

    @classmethod
    def named(cls, name: str) -> PdfReader:
        """The reader of that name; InputError for any other."""
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(cls)
            raise InputError(
                f"There is no such reader of PDFs. Received: pdf_reader={name!r}",
                next_step=f"One of {known}.",
            ) from None


def read_pdf(
    data: bytes, name: str, *, box: Sandbox, limits: Limits = LIMITS, reader: PdfReader = PdfReader.BUILTIN
) -> Draft:
    """The paper in a PDF. UnreadablePaper when it is locked or damaged, or has no text and nobody recognises
    it; MissingPart when it is to be read by what is not installed."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "papers")
    result = run_script(
        "pdf_text", box=box, name=name, given={"paper.pdf": data}, collect=("pages.json",), limits=limits
    )
    told = result_json(result, "pages.json", name)
    if "error" in told:
        locked = "password" in str(told["error"])
        raise UnreadablePaper(
            f"The PDF cannot be read: {told['error']}. Received: {name}",
            next_step="Save it without a password." if locked else "Get the paper anew, or its LaTeX.",
        )
    pages, unseen = bare_pages([_page(page) for page in told["pages"]]), int(told["unseen"])
    notes: tuple[Lost, ...] = ()
    if reader is not PdfReader.BUILTIN:
        from reenact.intake.papers.mineru import read_by_mineru
        from reenact.intake.papers.mineru_home import installed

        try:
            if reader is PdfReader.MINERU or installed() is not None:
                return read_by_mineru(data, name, pages, unseen, box=box)
        except UnreadablePaper as error:
            if reader is PdfReader.MINERU:
                raise
            notes = (Lost("file", f"It was read by the built-in reader. {error.sentence}"),)
    if not any(page.lines for page in pages):
        raise UnreadablePaper(
            f"The PDF has no text: its pages are pictures. Received: {name}",
            next_step="Run a text recognition over it first (--pdf-reader mineru does), or get its LaTeX.",
        )
    draft = _draft(pages, name, unseen + int(told["turned"]), data, box)
    return replace(draft, lost=(*draft.lost, *notes))


def _page(told: Mapping[str, Any]) -> Page:
    lines = tuple(
        Line(str(line["text"]), float(line["size"]), bool(line["bold"]), *map(float, line["box"]))
        for line in told["lines"]
    )
    return Page(int(told["number"]), lines, tuple(_tables(told["tables"])))


def _tables(told: Any) -> Iterator[tuple[Grid, tuple[float, ...]]]:
    for table in told:
        rows = tuple(tuple(str(cell) for cell in row) for row in table["rows"])
        yield Grid(rows, int(table["heads"])), tuple(map(float, table["box"]))


def _draft(pages: list[Page], name: str, unseen: int, data: bytes, box: Sandbox) -> Draft:
    size = body_size(pages)
    title, used = title_of(pages[0], size)
    made = Paragraphs(size)
    for page in pages:
        made.page(page, skip=used if page is pages[0] else frozenset())
    kept, entries = _without_references(made.finish())
    pieces, undrawn = cropped(kept, pages, data, size=size, box=box)
    lost = [Lost("equation", TRUST), *made.lost, *undrawn]
    if unseen:
        lost.append(
            Lost("text", f"Letters that no reader would see (white, tiny, turned) were left out: {unseen}.")
        )
    bare = [page.number for page in pages if not page.lines]
    if bare:
        lost.append(Lost("page", f"Pages without any text: {', '.join(map(str, bare))}."))
    return Draft(
        "pdf",
        pieces,
        title=title,
        references=tuple(keyed(entry, number) for number, entry in enumerate(entries, start=1)),
        lost=tuple(lost),
        texts={f"{name}#page={page.number}": "\n".join(line.text for line in page.lines) for page in pages},
    )


def _without_references(pieces: list[Piece]) -> tuple[list[Piece], list[str]]:
    kept: list[Piece] = []
    entries: list[str] = []
    inside = False
    for piece in pieces:
        if isinstance(piece, Heading):
            inside = piece.title.strip(" .:").casefold() in HEADINGS
            kept += [] if inside else [piece]
        elif inside and isinstance(piece, Prose | Formula):
            entries.append(piece.text if isinstance(piece, Prose) else piece.latex)
        else:
            kept.append(piece)
    return kept, entries
