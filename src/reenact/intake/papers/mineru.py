"""PDF -> Draft by MinerU, where its command `mineru` is installed: formulas as LaTeX, tables as cells.

MinerU is a program of its own under a licence of its own (AGPL): it is only ever called, in the sandbox, with
limits on time and memory, without a network. It sees the PDF, its own installation and its weights; of its
settings only the folders of the weights go in, since the file may hold keys. A PDF with letters that no
reader sees is read from its pixels, so that they cannot get in.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from reenact.errors import MissingPart, ResultRefused, UnreadablePaper
from reenact.intake.papers.assemble import FOOTNOTE, Draft, Heading, Piece, Prose
from reenact.intake.papers.html import read_tables
from reenact.intake.papers.mineru_home import SETTINGS, installed
from reenact.intake.papers.pandoc import SCRIPT_DEEPEST, result_json, run_script
from reenact.intake.papers.paper import Algorithm, Equation, Figure, Lost, Table, on_page
from reenact.intake.papers.pdf_lines import Page
from reenact.intake.papers.plain import heading_of
from reenact.intake.papers.references import is_bibliography, listed
from reenact.sandbox.box import MIB, Limits, Sandbox
from reenact.sandbox.files.strict_json import read_json

LIMITS = Limits(
    wall_s=1800.0,
    memory_bytes=16 * 1024 * MIB,
    disk_bytes=4096 * MIB,
    files=20_000,
    result_bytes=64 * MIB,
    processes=1024,
)
MOST_PICTURES = 40
INSTALL = "pip install 'mineru[core]' into an environment of its own, then run mineru-models-download"
_PICTURE = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff")


def read_by_mineru(
    data: bytes, name: str, pages: list[Page], unseen: int, *, box: Sandbox, limits: Limits = LIMITS
) -> Draft:
    """The paper as MinerU reads it. MissingPart when it is not installed, UnreadablePaper when it fails."""
    found = installed()
    if found is None:
        raise MissingPart("MinerU is not installed: there is no command `mineru`.", next_step=INSTALL)
    copies = tuple(f"picture{number}" for number in range(MOST_PICTURES))
    result = run_script(
        "mineru_run", found.program, "ocr" if unseen else "auto", box=box, name=name,
        given={"paper.pdf": data, SETTINGS: found.settings}, mounts=found.mounts,
        environment=found.environment, collect=("content.json", "gathered.json", *copies), limits=limits,
    )  # fmt: skip
    gathered = result_json(result, "gathered.json", name)
    if "content.json" not in result.results:
        output = str(gathered.get("output", "")).strip().splitlines()[-1:] or ["it printed nothing"]
        raise UnreadablePaper(
            f"MinerU ended with status {gathered.get('code')} and left no contents: {output[0][:300]}. "
            f"Received: {name}",
            next_step="Try `mineru -p FILE -o FOLDER -b pipeline` by hand, or use --pdf-reader builtin.",
        )
    pictures = {
        str(wanted): result.results.get(str(copy), b"") for wanted, copy in dict(gathered["pictures"]).items()
    }
    shown = {wanted: image for wanted, image in pictures.items() if image.startswith(_PICTURE)}
    texts = {f"{name}#page={page.number}": "\n".join(line.text for line in page.lines) for page in pages}
    return draft_of(_content(result.results["content.json"], name), shown, texts, name, unseen, box=box)


def _content(data: bytes, name: str) -> list[Mapping[str, Any]]:
    try:
        content = read_json(data, most_bytes=LIMITS.result_bytes, deepest=SCRIPT_DEEPEST)
    except ResultRefused as error:
        raise UnreadablePaper(
            f"What MinerU left cannot be read: {error.sentence} Received: {name}"
        ) from error
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


TRUST = "Formulas and tables were recognised by MinerU's networks: a sign may be misread. LaTeX keeps them."
UNSEEN = (
    "There are letters that no reader would see (white, tiny, turned): it was read from its pixels instead."
)
DROPPED = ("header", "footer", "page_number", "aside_text")
_NUMBER = re.compile(
    r"^\s*(?:table|figure|fig\.?|algorithm|listing)\s*(?P<number>[A-Z]?\d{1,3}(?:\.\d{1,2})?)\s*[:.|]?\s*",
    re.I,
)
_TAG = re.compile(r"\\tag\s*\*?\s*\{\s*(?P<number>[^{}]*?)\s*\}")

Block = Mapping[str, Any]


def draft_of(
    content: Sequence[Block], pictures: Mapping[str, bytes], texts: dict[str, str], name: str, unseen: int,
    *, box: Sandbox,
) -> Draft:  # fmt: skip
    """The whole paper. `texts` are the pages as they can be searched, `unseen` counts letters left out."""
    made = _Made(pictures, _grids([block for block in content if block.get("type") == "table"], name, box))
    for block in content:
        made.take(block)
    if not made.pieces:
        raise UnreadablePaper(f"MinerU found nothing in it. Received: {name}")
    lost = [Lost("equation", TRUST), *made.lost]
    if unseen:
        lost.append(Lost("text", UNSEEN))
    return Draft(
        "pdf", tuple(made.pieces), title=made.title,
        references=listed(made.entries),
        lost=tuple(lost), texts=texts,
    )  # fmt: skip


@dataclass
class _Made:
    """Takes blocks one after the other."""

    pictures: Mapping[str, bytes]
    grids: dict[int, Table]
    title: str = ""
    pieces: list[Piece] = field(default_factory=list)
    entries: list[str] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)
    _tables: int = 0
    _references: bool = False

    def take(self, block: Block) -> None:
        kind, page = str(block.get("type", "")), _page(block)
        if kind in DROPPED:
            return
        if kind == "page_footnote":
            self._prose(FOOTNOTE + _text(block, "text"), page)
        elif kind in ("image", "chart"):
            self._figure(block, page)
        elif kind == "table":
            self._table(block, page)
        elif kind == "equation":
            self._formula(block, page)
        elif kind == "code":
            caption, number = _captioned(block, "code_caption")
            self.pieces.append(
                Algorithm(caption=caption, label=number, body=_text(block, "code_body"), span=on_page(page))
            )
        elif kind == "list":
            self._list(block, page)
        elif block.get("text_level"):
            self._heading(_text(block, "text"), int(block["text_level"]))
        else:
            self._prose(_text(block, "text"), page)

    def _heading(self, text: str, level: int) -> None:
        """The first heading is the title, unless it reads like that of a section; numbers decide levels."""
        known = heading_of(text)
        if not self.title and not self.pieces and known is None:
            self.title = text
            return
        # Below a title of level 1 sections have level 2, where MinerU tells levels at all.
        found = known or Heading(max(1, level - 1) if self.title else level, text)
        self._references = is_bibliography(found.title)
        self.pieces += [] if self._references else [found]

    def _prose(self, text: str, page: int) -> None:
        if not text.removeprefix(FOOTNOTE).strip():
            return
        if self._references and not text.startswith(FOOTNOTE):
            self.entries.append(text)
        else:
            self.pieces.append(Prose(text, page))

    def _list(self, block: Block, page: int) -> None:
        items = [" ".join(str(item).split()) for item in _list(block.get("list_items"))]
        if block.get("sub_type") == "ref_text":
            self.entries += [item for item in items if item]
        else:
            for item in items:
                self._prose(item, page)

    def _formula(self, block: Block, page: int) -> None:
        latex = str(block.get("text") or "").strip().strip("$").strip()
        tag = _TAG.search(latex)
        latex = " ".join(_TAG.sub("", latex).split())
        if latex:
            self.pieces.append(Equation(latex=latex, label=tag["number"] if tag else "", span=on_page(page)))
        else:
            self.lost.append(Lost("equation", "A displayed formula was seen and not read.", f"page {page}"))

    def _figure(self, block: Block, page: int) -> None:
        caption, number = _captioned(
            block,
            "image_caption",
            "img_caption",
            "chart_caption",
            "image_footnote",
            "img_footnote",
            "chart_footnote",
        )
        file = str(block.get("img_path") or "")
        image = self.pictures.get(file, b"")
        if not image:
            self.lost.append(
                Lost("figure", f"Figure {number} has no picture.".replace("  ", " "), f"page {page}")
            )
        self.pieces.append(Figure(caption=caption, label=number, file=file, image=image, span=on_page(page)))

    def _table(self, block: Block, page: int) -> None:
        caption, number = _captioned(block, "table_caption", "table_footnote")
        grid = self.grids.get(self._tables, Table(heads=0))
        self._tables += 1
        if not grid.rows:
            words = f"The cells of table {number} were not found.".replace("  ", " ")
            self.lost.append(Lost("table", words, f"page {page}"))
        self.pieces.append(replace(grid, caption=caption or grid.caption, label=number, span=on_page(page)))


def _grids(tables: Sequence[Block], name: str, box: Sandbox) -> dict[int, Table]:
    """The cells of all tables, read from their HTML in one run; the first row is a heading in any case."""
    bodies = [str(table.get("table_body") or "") for table in tables]
    found = read_tables(bodies, name, box=box) if any(bodies) else {}
    return {at: replace(grid, heads=max(1, grid.heads)) for at, grid in found.items()}


def _captioned(block: Block, *names: str) -> tuple[str, str]:
    """The words of a caption without its number, and the number."""
    words = " ".join(" ".join(str(part).split()) for name in names for part in _list(block.get(name)))
    found = _NUMBER.match(words)
    return (words[found.end() :], found["number"]) if found else (words, "")


def _list(value: object) -> list[object]:
    return list(value) if isinstance(value, list) else [value] if isinstance(value, str) else []


def _text(block: Block, name: str) -> str:
    text = str(block.get(name) or "").strip()
    return text if name == "code_body" else " ".join(text.split())


def _page(block: Block) -> int:
    number = block.get("page_idx")
    return number + 1 if isinstance(number, int) else 1
