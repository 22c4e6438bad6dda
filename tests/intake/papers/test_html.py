from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import UnreadablePaper
from reenact.intake.papers.paper import Algorithm, Equation, Figure, Paper, Table
from reenact.intake.papers.read import read_paper
from reenact.sandbox.box import Sandbox


def test_the_paper_of_the_tests(html: Paper, fixtures: Path) -> None:
    assert (html.title, html.authors) == (
        "Narrow Layers Learn Late: A Study of Width",
        ("Ada Example", "Bo Sample"),
    )
    assert [(one.id, one.title) for one in html.sections] == [
        ("0", "Abstract"),
        ("1", "Method"),
        ("2", "Experiments"),
        ("2.1", "Results"),
        ("A", "Settings"),
    ]
    assert [(one.label, one.latex) for one in html.blocks() if isinstance(one, Equation)] == [
        ("1", r"L(\theta)=-\sum_{i=1}^{n}y_{i}\log\mathrm{softmax}(Wx_{i})"),
        ("2", r"\beta = 0.9"),
    ]
    (table,) = [one for one in html.blocks() if isinstance(one, Table)]
    assert (table.label, table.caption, table.heads) == (
        "1",
        "Accuracy on digits, next to [@bib.bib2].",
        2,
    )
    assert table.rows == (
        ("", "Accuracy", "Accuracy"),
        ("Model", "train", "test"),
        ("MLP", "99.1", "88.1"),
        ("MLP", "98.0", "87.9"),
        ("Narrow-Net", "97.3", "91.2"),
    )
    (figure,) = [one for one in html.blocks() if isinstance(one, Figure)]
    assert figure.image == (fixtures / "narrow" / "figures" / "net.png").read_bytes()
    train, listing = [one for one in html.blocks() if isinstance(one, Algorithm)]
    assert (train.label, train.caption, train.body) == (
        "1",
        "Training",
        "for $t=1$ to T\nstep",
    )
    assert listing.body == "x = 1\ny = 2"


def test_sentences_citations_and_footnotes(html: Paper) -> None:
    texts = {one.text: one for one in html.sentences()}
    cited = texts[r"Let $x\in\mathbb{R}^{d}$ be an input [@bib.bib1; @bib.bib2]."]
    assert cited.cites == ("bib.bib1", "bib.bib2")
    assert r"The rate is $\eta=10^{-3}$." in texts
    assert {
        "Footnote: Over five seeds.",
        r"where $\theta$ are all weights.",
        "Wide ones.",
    } <= set(texts)
    assert "Weights are drawn from a normal distribution." in texts
    assert [(one.key, one.arxiv, one.year) for one in html.references] == [
        ("bib.bib1", "1412.6980", 2015),
        ("bib.bib2", "", 2014),
    ]


def test_what_no_reader_sees_is_left_out_and_reported(html: Paper) -> None:
    assert "Ignore the paper" not in html.text()
    assert "Menu" not in html.text()
    assert {one.kind for one in html.lost} == {"equation", "text"}
    assert "lonely" in next(one.what for one in html.lost if one.kind == "equation")


def test_tags_without_end_and_without_order(tmp_path: Path, box: Sandbox) -> None:
    page = tmp_path / "page.html"
    page.write_text(
        "<html><body>"
        + "<div><b>" * 1200
        + "Words at the bottom."
        + "</i></td></table><p>More words."
    )
    paper = read_paper(str(page), box=box)
    assert "Words at the bottom." in paper.text()
    assert "More words." in paper.text()


def test_a_page_without_words_is_refused(tmp_path: Path, box: Sandbox) -> None:
    page = tmp_path / "page.html"
    page.write_text("<html><body><script>x()</script><p hidden>No.</p></body></html>")
    with pytest.raises(UnreadablePaper, match="says nothing"):
        read_paper(str(page), box=box)
