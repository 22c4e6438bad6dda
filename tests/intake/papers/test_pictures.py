"""Pictures of a PDF's figures: the pages that their captions stand on."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from reenact.intake.papers.paper import Figure
from reenact.intake.papers.pictures import MOST
from reenact.intake.papers.read import read_paper
from reenact.sandbox.box import Sandbox

SENTENCE = "These words run over the whole width of the column, as text of a paper does."
RED, BLUE = (255, 0, 0), (0, 0, 255)


def colours(image: bytes) -> set[tuple[int, int, int]]:
    """The pure colours of a picture."""
    from PIL import Image

    opened = Image.open(io.BytesIO(image)).convert("RGB")
    return {colour for _, colour in opened.getcolors(1 << 24)} & {RED, BLUE}


def test_a_figure_is_shown_on_its_page(tmp_path: Path, box: Sandbox, pdf: Any) -> None:
    one, two = pdf.sheet(), pdf.sheet()
    one.say(SENTENCE, 72, 700)
    one.block(150, 560, 250, 660)
    one.say("Figure 1: A block, red.", 150, 530)
    two.say(SENTENCE, 72, 740)
    two.block(72, 580, 272, 680, "0 0 1")
    two.say("Figure 2: A block, blue.", 72, 560)
    two.say(SENTENCE, 72, 500)
    two.say("Figure 3: The same page.", 72, 300)
    (tmp_path / "paper.pdf").write_bytes(pdf.of(one, two))
    paper = read_paper(str(tmp_path / "paper.pdf"), box=box)
    first, second, third = [one for one in paper.blocks() if isinstance(one, Figure)]
    assert [one.file for one in (first, second)] == [
        "paper.pdf#page=1",
        "paper.pdf#page=2",
    ]
    assert (colours(first.image), colours(second.image)) == ({RED}, {BLUE})
    assert third.image == second.image
    assert not [one for one in paper.lost if one.kind == "figure"]


def test_so_many_pages_and_no_more(tmp_path: Path, box: Sandbox, pdf: Any) -> None:
    sheets = []
    for page in range(MOST + 2):
        sheet = pdf.sheet()
        sheet.block(100, 120, 200, 160)
        sheet.say(f"Figure {page + 1}: A block, {'very ' * page}red.", 100, 100)
        sheets.append(sheet)
    sheets[0].say(SENTENCE, 72, 700)
    (tmp_path / "paper.pdf").write_bytes(pdf.of(*sheets))
    paper = read_paper(str(tmp_path / "paper.pdf"), box=box)
    figures = [one for one in paper.blocks() if isinstance(one, Figure)]
    assert [bool(one.image) for one in figures] == [True] * MOST + [False] * 2
    assert sum("was not drawn" in one.what for one in paper.lost) == 2
