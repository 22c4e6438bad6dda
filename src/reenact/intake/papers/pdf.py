"""PDF -> Draft: text, captions and tables; formulas are not to be trusted, which `lost` states."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from reenact.errors import MissingExtra, ReenactError, Stopped, UnreadablePaper
from reenact.intake.papers.assemble import Draft, Piece, cut_references
from reenact.intake.papers.pandoc import SCRIPT_LIMITS, result_json, run_script
from reenact.intake.papers.paper import Figure, Lost, Table
from reenact.intake.papers.pdf_lines import Box, Line, Page, Paragraphs, bare_pages, body_size, title_of
from reenact.sandbox.box import Limits, Sandbox
from reenact.types import JsonValue

PACKAGES = ("pypdfium2", "pdfplumber")
TRUST = "Formulas of a PDF come as loose signs: none of them is to be trusted. LaTeX or HTML keeps them."


def read_pdf(data: bytes, name: str, *, box: Sandbox, limits: Limits = SCRIPT_LIMITS) -> Draft:
    """The paper in a PDF. UnreadablePaper when it is locked or damaged, or has no text."""
    for package in PACKAGES:
        if importlib.util.find_spec(package) is None:
            raise MissingExtra(package, "papers")
    result = run_script(
        "pdf_text", box=box, name=name, given={"paper.pdf": data}, collect=("pages.json",), limits=limits
    )
    parsed = result_json(result, "pages.json", name)
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
    made = Paragraphs(size)
    for page in pages:
        made.page(page, skip=used if page is pages[0] else frozenset())
    kept, references = cut_references(made.finish())
    pieces, undrawn = cropped(kept, made.figures, pages, data, size=size, box=box)
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
        texts={f"{name}#page={page.number}": "\n".join(line.text for line in page.lines) for page in pages},
    )


MOST = 40
"""Figures of one paper that are cut out; the others keep their captions."""
LONG = 40
"""Letters from which on a line is running text and no label of an axis."""


def cropped(
    pieces: Sequence[Piece],
    captions: Sequence[tuple[Figure, Box]],
    pages: Sequence[Page],
    data: bytes,
    *,
    size: float,
    box: Sandbox,
) -> tuple[tuple[Piece, ...], tuple[Lost, ...]]:
    """The pieces with pixels for their figures, and a note for each figure that has none."""
    figures = [figure for figure, _ in captions]
    by_number = {page.number: page for page in pages}
    wanted = [
        _wanted(
            caption,
            by_number[figure.span.page],
            [other for one, other in captions if one.span == figure.span and one is not figure],
            size,
        )
        for figure, caption in captions[:MOST]
    ]
    images, problems = _images(data, wanted, box) if wanted else ([], [])
    problems += [f"at most {MOST} figures of a paper are cut out"] * (len(figures) - len(problems))
    found = dict(zip(map(id, figures), images, strict=False))
    made = tuple(
        replace(one, image=found.get(id(one), b"")) if isinstance(one, Figure) else one for one in pieces
    )
    lost = [
        Lost("figure", f"Figure {one.label} has no picture: {why}.", f"page {one.span.page}")
        for one, why in zip(figures, problems, strict=True)
        if why
    ]
    return made, tuple(lost)


def _wanted(caption: Box, page: Page, others: Sequence[Box], size: float) -> dict[str, JsonValue]:
    """Where a caption is, the column that it belongs to, and the words around it; `others` are captions."""
    lines = [line for line in page.lines if not _inside(line, caption)]
    prose = [line.box for line in lines if len(line.text) >= LONG and line.size >= 0.9 * size]
    return {
        "page": page.number,
        "caption": list(caption),
        "column": list(_column(caption, page.lines, others)),
        # The caption of another figure ends this one, as running text does.
        "prose": [list(box) for box in (*prose, *others)],
        "words": [list(line.box) for line in lines if len(line.text) < LONG],
    }


def _column(caption: Box, lines: Sequence[Line], others: Sequence[Box]) -> tuple[float, float]:
    """From where to where the figure of a caption may reach."""
    left, right = min(line.left for line in lines), max(line.right for line in lines)
    middle = (left + right) / 2
    long = [line for line in lines if len(line.text) >= LONG]
    halves = [line for line in long if line.right <= middle + 6 or line.left >= middle - 6]
    if long and 2 * len(halves) > len(long):
        right = middle if caption[2] <= middle + 6 else right
        left = middle if caption[0] >= middle - 6 else left
    for other in others:
        beside = other[1] < caption[3] and caption[1] < other[3]
        if beside and other[0] >= caption[2]:
            right = min(right, (caption[2] + other[0]) / 2)
        elif beside and other[2] <= caption[0]:
            left = max(left, (other[2] + caption[0]) / 2)
    return left, right


def _images(data: bytes, wanted: list[dict[str, JsonValue]], box: Sandbox) -> tuple[list[bytes], list[str]]:
    if importlib.util.find_spec("PIL") is None:
        return [], ["drawing it needs the package pillow"] * len(wanted)
    names = tuple(f"crop{number}.png" for number in range(len(wanted)))
    try:
        result = run_script(
            "pdf_draw", box=box, name="figures", stdin=json.dumps(wanted).encode(),
            given={"paper.pdf": data}, collect=("crops.json", *names), limits=SCRIPT_LIMITS,
        )  # fmt: skip
        problems = [str(one) for one in result_json(result, "crops.json", "figures")["problems"]]
    except Stopped:
        raise
    except ReenactError as error:
        # A page made to harm its reader costs the figures, not the paper.
        return [], [f"the figures could not be drawn ({error.sentence.rstrip('.')})"] * len(wanted)
    return [result.results.get(name, b"") for name in names], problems


def _inside(line: Line, caption: Box) -> bool:
    middle = (line.low + line.high) / 2
    return caption[1] <= middle <= caption[3] and line.left < caption[2] and caption[0] < line.right
