"""PDF -> Draft: text, captions and tables; formulas are not to be trusted, which `lost` states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from reenact.errors import UnreadablePaper
from reenact.intake.papers.assemble import Draft, cut_references
from reenact.intake.papers.pandoc import SCRIPT_LIMITS, read_by
from reenact.intake.papers.paper import Figure, Lost, Table
from reenact.intake.papers.pdf_lines import Box, Line, Page, Paragraphs, bare_pages, body_size, title_of
from reenact.intake.papers.pictures import drawn
from reenact.sandbox.box import Limits, Sandbox

TRUST = "Formulas of a PDF come as loose signs: none of them is to be trusted. LaTeX or HTML keeps them."


def read_pdf(data: bytes, name: str, *, box: Sandbox, limits: Limits = SCRIPT_LIMITS) -> Draft:
    """The paper in a PDF. UnreadablePaper when it is locked or damaged, or has no text."""
    parsed = read_by("pdf_text", "pages.json", name=name, limits=limits, box=box, given={"paper.pdf": data})
    if "error" in parsed:
        locked = "password" in str(parsed["error"])
        raise UnreadablePaper(
            f"The PDF cannot be read: {parsed['error']}. Received: {name}",
            next_step="Save it without a password."
            if locked
            else "Download the paper again, or get its LaTeX.",
        )
    pages = bare_pages([_page(page) for page in parsed["pages"]])
    if not any(page.lines for page in pages):
        raise UnreadablePaper(
            f"The PDF has no text: its pages are pictures. Received: {name}",
            next_step="Run a text recognition over it first, or get its LaTeX.",
        )
    return _draft(pages, name, int(parsed["unseen"]) + int(parsed["turned"]), data, box)


def _page(page: Mapping[str, Any]) -> Page:
    lines = tuple(
        Line(str(line["text"]), float(line["size"]), bool(line["bold"]), *map(float, line["box"]))
        for line in page["lines"]
    )
    return Page(int(page["number"]), lines, tuple(_tables(page["tables"])))


def _tables(tables: Any) -> Iterator[tuple[Table, Box]]:
    for table in tables:
        rows = tuple(tuple(str(cell) for cell in row) for row in table["rows"])
        yield Table(rows=rows, heads=int(table["heads"])), tuple(map(float, table["box"]))


def _draft(pages: list[Page], name: str, unseen: int, data: bytes, box: Sandbox) -> Draft:
    size = body_size(pages)
    title, used = title_of(pages[0], size)
    made = Paragraphs(size, name)
    for page in pages:
        made.page(page, skip=used if page is pages[0] else frozenset())
    kept, references = cut_references(made.finish())
    shown = {one.file: data for one in kept if isinstance(one, Figure)}
    pieces, undrawn = drawn(kept, shown, box=box)
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
        references=references,
        lost=tuple(lost),
    )
