"""Pictures of a PDF's figures: what is drawn next to a caption, and nothing else."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from reenact.intake.papers.paper import Figure, Paper
from reenact.intake.papers.pdf import MOST
from reenact.intake.papers.read import read_paper
from reenact.sandbox.box import Sandbox

SENTENCE = "These words run over the whole width of the column, as text of a paper does."
RED, GREEN, BLUE, BLACK, WHITE = (255, 0, 0), (0, 255, 0), (0, 0, 255), (0, 0, 0), (255, 255, 255)


@pytest.fixture(scope="module")
def paper(tmp_path_factory: pytest.TempPathFactory, box: Sandbox, pdf: Any) -> Paper:
    one = pdf.sheet()
    one.say("Narrow Layers Learn Late", 150, 740, 17, bold=True)
    one.say(SENTENCE, 72, 700)
    one.rule(72, 500, 690)
    one.block(150, 560, 250, 660)
    one.block(260, 560, 300, 600, "0 1 0")
    one.say("accuracy", 100, 600, 8)
    one.say("epoch", 190, 548, 8)
    one.say("Figure 1: Blocks, red and green.", 150, 530)
    one.say(SENTENCE, 72, 500)
    one.block(400, 300, 500, 400, "0 0 0")
    one.say(SENTENCE, 72, 290)
    one.photo(100, 140, 250, 240)
    one.block(320, 140, 450, 240, "0 0 1")
    one.say("Figure 2: A photo.", 110, 120)
    one.say("Figure 3: Blue.", 350, 120)
    two = pdf.sheet()
    two.say(SENTENCE, 72, 740)
    two.say("Figure 4: Its drawing stands below.", 72, 700)
    two.block(72, 580, 272, 680)
    two.say(SENTENCE, 72, 560)
    two.say("Figure 5: Nothing is drawn here.", 72, 300)
    two.say(SENTENCE, 72, 270)
    place = tmp_path_factory.mktemp("crops") / "paper.pdf"
    place.write_bytes(pdf.of(one, two))
    return read_paper(str(place), box=box)


def figure(paper: Paper, label: str) -> Figure:
    (found,) = [one for one in paper.blocks() if isinstance(one, Figure) and one.label == label]
    return found


def colours(image: bytes) -> tuple[set[tuple[int, int, int]], tuple[int, int]]:
    """The pure colours of a picture, and its size."""
    from PIL import Image

    opened = Image.open(io.BytesIO(image)).convert("RGB")
    pure = {RED, GREEN, BLUE, BLACK, WHITE}
    return {colour for _, colour in opened.getcolors(1 << 24)} & pure, opened.size


def test_a_vector_drawing_with_its_labels_and_without_its_neighbours(paper: Paper) -> None:
    seen, (wide, high) = colours(figure(paper, "1").image)
    assert {RED, GREEN} <= seen
    # From the words beside the axis, 100, to the end of the green block, 300: neither the rule nor the text.
    assert wide / high == pytest.approx((300 - 100 + 8) / (660 - 546 + 8), rel=0.08)
    assert max(wide, high) >= 500


def test_two_figures_side_by_side_are_kept_apart(paper: Paper) -> None:
    photo, _ = colours(figure(paper, "2").image)
    assert {BLUE, GREEN} <= photo
    seen, (wide, high) = colours(figure(paper, "3").image)
    assert BLUE in seen
    assert GREEN not in seen
    assert wide / high == pytest.approx(138 / 108, rel=0.05)


def test_a_drawing_below_its_caption(paper: Paper) -> None:
    seen, (wide, high) = colours(figure(paper, "4").image)
    assert RED in seen
    assert wide / high == pytest.approx(208 / 108, rel=0.05)


def test_a_figure_without_a_drawing_is_reported(paper: Paper) -> None:
    assert figure(paper, "5").image == b""
    (lost,) = [one for one in paper.lost if one.kind == "figure"]
    assert lost.what == "Figure 5 has no picture: nothing is drawn next to its caption."
    assert lost.where == "page 2"


def test_so_many_figures_and_no_more(tmp_path: Path, box: Sandbox, pdf: Any) -> None:
    sheets = []
    for page in range(MOST // 2 + 1):
        sheet = pdf.sheet()
        for at, low in enumerate((400, 100)):
            sheet.block(100, low + 20, 200, low + 60)
            sheet.say(f"Figure {2 * page + at + 1}: A block, {'very ' * page}red.", 100, low)
        sheets.append(sheet)
    sheets[0].say(SENTENCE, 72, 700)
    place = tmp_path / "paper.pdf"
    place.write_bytes(pdf.of(*sheets))
    paper = read_paper(str(place), box=box)
    figures = [one for one in paper.blocks() if isinstance(one, Figure)]
    assert [bool(one.image) for one in figures] == [True] * MOST + [False] * 2
    assert sum("at most 40 figures" in one.what for one in paper.lost) == 2
