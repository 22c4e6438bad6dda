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
        "Narrow Layers Learn Late: A Study of Width",
        ("Ada Example", "Bo Sample"),
    )
    assert [one.id for one in markdown.sections] == ["0", "1", "2", "2.1", "2.2", "A"]
    equations = [(one.label, one.latex) for one in markdown.blocks() if isinstance(one, Equation)]
    assert equations == [
        ("eq:loss", r"L(\theta) = -\sum_{i=1}^{n} y_i \log \mathrm{softmax}(W x_i)"),
        ("eq:beta", r"\beta = 0.9"),
        ("", r"m_t = \beta m_{t-1}"),
    ]
    (table,) = [one for one in markdown.blocks() if isinstance(one, Table)]
    assert (table.label, table.caption) == (
        "1",
        "Accuracy on digits, next to [@ba2014].",
    )
    assert table.rows == (
        ("Model", "train", "$|W|$", "test | best"),
        ("MLP [@ba2014]", "99.1", "3", "88.1"),
        ("Narrow-Net", "97.3", "4", ""),
    )
    (figure,) = [one for one in markdown.blocks() if isinstance(one, Figure)]
    assert (figure.label, figure.caption, figure.file) == (
        "2",
        "The network.",
        "figures/net.png",
    )
    (algorithm,) = [one for one in markdown.blocks() if isinstance(one, Algorithm)]
    assert (algorithm.label, algorithm.caption, algorithm.body) == (
        "1",
        "Training",
        "for t in 1..T:\n    step",
    )
    assert [(one.key, one.arxiv, one.doi) for one in markdown.references] == [
        ("kingma2015", "1412.6980", ""),
        ("ba2014", "", "10.5555/2969033"),
    ]
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


@given(
    st.lists(
        st.sampled_from(
            [
                "# A",
                "## B",
                "text. More",
                "$$",
                "$$ x $$",
                "| a | b |",
                "|---|---|",
                "```",
                "- item",
                "![c](f.png)",
                "Table 1: c",
                "**Algorithm 2.** d",
                "## References",
                "[1] A. B. Title of it. 2020.",
                "",
                "===",
                "> quote",
                "\\[",
            ]
        ),
        max_size=25,
    )
)
@settings(max_examples=80, deadline=None)
def test_no_order_of_lines_breaks_the_reader(lines: list[str]) -> None:
    paper = of("\n".join(["First words.", "", *lines]))
    assert paper.find("First words") or paper.title == "First words."
    assert len(paper.by_id) == len(paper.sections) + len(list(paper.blocks())) + len(
        list(paper.sentences())
    )


CONVERTED = r"""# A Study of Late Layers

Ada Example 1 Bo Sample 2

# Abstract

Layers learn late.

# 1. Introduction

As Loom & Weir (2019) found, a rate of $1 0 ^ { - 4 }$ or $0 . 0 1$ works for $f _ { 1 } ( \mathbf { x } )$ .

# 2. Method

# 2.2. Training

$$
L ( \theta ) = \sum _ { i = 1 } ^ { n } \alpha y _ { i }
$$

$$
\left\{ \begin{array} { l l } { a } & { b
$$

# Algorithm 1 Training the late layers.

Input: a network $f$ , rate $0 . 1$
1: for $t = 1 , 2$ do
2: take a step
3: end for

Appendix A has the rest.

# 2.1. Data

Table 1: Accuracy in per cent.

<table><tr><td>Method</td><td colspan="2">Accuracy</td></tr>
<tr><td rowspan="2">Ours</td><td>91.2</td><td>1.8&amp;</td></tr><tr><td>90.1</td><td>$0 . 3$</td></tr></table>

# We have two remarks.

Both are short.

# 3. Conclusion

# Impact Statement

There is none.

References
Loom, A., Weir, T. d., and Quill, P. Do layers learn late? A study. In Test Venue, pp. 1-2, 2019.
Marden, I. Slow targets, volume 30. Test Press, 2013. Kettle, J. and Weir, T. Octave features. In Venue, 2021.

# A. Proofs

They are easy.

# A.1. More

Quill, P. and Viegas, ´ F. Halving spectra. Test Journal, 2020.
""".replace("2019.\n", "2019.   \n")


def test_what_a_converter_makes_of_a_pdf() -> None:
    paper = of(CONVERTED)
    assert paper.title == "A Study of Late Layers"
    ids = {one.title: one.id for one in paper.sections}
    assert [one.id for one in paper.sections][:5] == ["0", "1", "2", "2.2", "2.1"]
    assert ids["We have two remarks."].startswith("2.1")
    assert (ids["Conclusion"], ids["Proofs"], ids["More"]) == ("3", "A", "A.1")
    assert len(set(ids.values())) == len(paper.sections)
    assert [one.level for one in paper.sections if one.id in ("2", "2.1", "A.1")] == [
        1,
        2,
        2,
    ]


def test_spaced_formulas_are_closed_and_cut_ones_reported() -> None:
    paper = of(CONVERTED)
    text = paper.text()
    assert all(words in text for words in ("$10^{-4}$", "$0.01$", r"$f_{1}(\mathbf{x})$"))
    assert r"L(\theta)=\sum_{i=1}^{n}\alpha y_{i}" in text
    assert [one.what for one in paper.lost if one.kind == "equation"] == [
        "A displayed formula is cut off."
    ]
    assert (
        of(r"# T" + "\n\n" + r"With $a \text{ if and only if } b$.").text().count("if and only if")
        == 1
    )


def test_html_tables_and_algorithms_are_what_they_are() -> None:
    blocks = list(of(CONVERTED).blocks())
    (table,) = [one for one in blocks if isinstance(one, Table)]
    assert (table.label, table.caption) == ("1", "Accuracy in per cent.")
    assert table.rows == (
        ("Method", "Accuracy", "Accuracy"),
        ("Ours", "91.2", "1.8&"),
        ("Ours", "90.1", "$0.3$"),
    )
    (algorithm,) = [one for one in blocks if isinstance(one, Algorithm)]
    assert (algorithm.label, algorithm.caption) == ("1", "Training the late layers.")
    assert algorithm.body.splitlines()[0] == "Input: a network $f$ , rate $0.1$"
    assert algorithm.body.splitlines()[-1] == "3: end for"


def test_entries_that_ran_together_or_apart_are_one_each() -> None:
    references = of(CONVERTED).references
    assert [one.title for one in references] == [
        "Do layers learn late? A study",
        "Slow targets",
        "Octave features",
        "Halving spectra",
    ]
    assert references[0].authors[0] == "A. Loom"


def test_a_table_that_does_not_end_is_reported() -> None:
    assert [one.kind for one in of("# T\n\nText. <table><tr><td>1</td>").lost] == ["table"]


COLUMNS = """# Slow Slopes

Ann Lee 1 Bo van Chu * 2

# Abstract

We climb slopes.

slopes that are steep. They were climbed before (Lee et al., 2020).

We climb them slowly.

# 1. Introduction

Many have climbed

Few came back.

# 2. Method

We climb.

# Appendix

A Proofs 14{line}
A.1 Of slopes . 15{line}
B Data in Figure 1 16

# B Data in Figure 1 16

# A. Proofs

It holds.

# A.1. Of slopes

It holds too.

# B. Data in Figure 1

There are some.
""".replace("{line}", "  ")


def test_a_first_page_of_two_columns_and_a_table_of_contents() -> None:
    paper = assemble(read_markdown(COLUMNS, Pictures(None)), "slopes.md")

    assert paper.authors == ("Ann Lee", "Bo van Chu")
    abstract, introduction = paper.sections[:2]
    assert [one.text for one in abstract.blocks] == ["We climb slopes."]
    assert [one.text for one in introduction.blocks] == [
        "Many have climbed",
        "slopes that are steep. They were climbed before (Lee et al., 2020).",
        "We climb them slowly.",
        "Few came back.",
    ]
    assert [one.id for one in paper.sections] == ["0", "1", "2", "A", "A.1", "B"]


def test_an_abstract_of_two_paragraphs_stays_whole() -> None:
    text = COLUMNS.replace(
        "slopes that are steep. They were climbed before (Lee et al., 2020).",
        "It is hard.",
    )
    paper = assemble(read_markdown(text, Pictures(None)), "slopes.md")
    assert len(paper.sections[0].blocks) == 3


def test_a_first_page_that_no_converter_wrote_stays_as_it_is() -> None:
    paper = of(
        "# Slow Slopes\n\nAnn Lee\n\n## Abstract\n\nWe climb.\n\n## Introduction\n\nMany have "
        "climbed.\n"
    )
    assert [one.text for one in paper.sections[0].blocks] == ["Ann Lee", "We climb."]
