from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.intake.papers.assemble import assemble
from reenact.intake.papers.markdown import read_markdown
from reenact.intake.papers.paper import Algorithm, Equation, Figure, Paper, Table
from reenact.intake.papers.pictures import Pictures


def of(text: str) -> Paper:
    return assemble(read_markdown(text, Pictures(None)), "paper.md")


def test_the_paper_of_the_tests(markdown: Paper) -> None:
    assert (markdown.title, markdown.authors) == (
        "Narrow Layers Learn Late: A Study of Width", ("Ada Example", "Bo Sample"),
    )  # fmt: skip
    assert [one.id for one in markdown.sections] == ["0", "1", "2", "2.1", "2.2", "A"]
    equations = [(one.label, one.latex) for one in markdown.blocks() if isinstance(one, Equation)]
    assert equations == [
        ("eq:loss", r"L(\theta) = -\sum_{i=1}^{n} y_i \log \mathrm{softmax}(W x_i)"),
        ("eq:beta", r"\beta = 0.9"),
        ("", r"m_t = \beta m_{t-1}"),
    ]
    (table,) = [one for one in markdown.blocks() if isinstance(one, Table)]
    assert (table.label, table.caption) == ("1", "Accuracy on digits, next to [@ba2014].")
    assert table.rows == (
        ("Model", "train", "$|W|$", "test | best"),
        ("MLP [@ba2014]", "99.1", "3", "88.1"),
        ("Narrow-Net", "97.3", "4", ""),
    )
    (figure,) = [one for one in markdown.blocks() if isinstance(one, Figure)]
    assert (figure.label, figure.caption, figure.file) == ("2", "The network.", "figures/net.png")
    (algorithm,) = [one for one in markdown.blocks() if isinstance(one, Algorithm)]
    assert (algorithm.label, algorithm.caption, algorithm.body) == (
        "1",
        "Training",
        "for t in 1..T:\n    step",
    )
    assert [(one.key, one.arxiv, one.doi) for one in markdown.references] == [
        ("kingma2015", "1412.6980", ""), ("ba2014", "", "10.5555/2969033"),
    ]  # fmt: skip
    assert markdown.references[1].cited_in == ("0:1.2", "1:1.1", "2.2:1")
    assert [one.kind for one in markdown.lost] == ["figure"]
    assert "Ignore the paper" not in markdown.text()


def test_unknown_citations_and_open_formulas_are_reported() -> None:
    paper = of("# T\n\n## A\n\nAs in [@gone].\n\n$$ a = b\n\nText goes on.\n")
    assert {one.kind for one in paper.lost} == {"citation", "equation"}
    assert "Text goes on." in paper.text()


def test_results_can_be_hidden() -> None:
    paper = of("# T\n\n## A\n\nWe use Adam. It reaches 91.2 %.\n")
    hidden = paper.text(hide=frozenset({"1:1.2"}))
    assert "We use Adam." in hidden
    assert "91.2" not in hidden


@given(st.lists(st.sampled_from(
    ["# A", "## B", "text. More", "$$", "$$ x $$", "| a | b |", "|---|---|", "```", "- item",
     "![c](f.png)", "Table 1: c", "**Algorithm 2.** d", "## References",
     "[1] A. B. Title of it. 2020.", "", "===", "> quote", "\\["]
), max_size=25))  # fmt: skip
@settings(max_examples=80)
def test_no_order_of_lines_breaks_the_reader(lines: list[str]) -> None:
    paper = of("\n".join(["First words.", "", *lines]))
    assert paper.find("First words") or paper.title == "First words."
    assert len(paper.by_id) == len(paper.sections) + len(list(paper.blocks())) + len(list(paper.sentences()))
