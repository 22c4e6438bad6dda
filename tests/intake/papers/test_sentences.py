from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reenact.intake.papers.assemble import split

WORDS = st.sampled_from(
    [
        "We",
        "train",
        "a",
        "net.",
        "e.g.",
        "i.e.,",
        "Fig.",
        "3.",
        "Smith",
        "et",
        "al.",
        "(2020).",
        "0.5",
        "$x.$",
        "Eq.",
        "(2)",
        "[@a; @b.c].",
        "$a. B$",
        "J.",
        "Ba.",
        "No.",
        "See",
        "https://a.b/c. D",
        "etc.",
        "!",
        "?)",
        "”",
        "A.",
        "$",
    ]
)


@pytest.mark.parametrize(
    ("paragraph", "expected"),
    [
        ("It rains. We stay.", ["It rains.", "We stay."]),
        ("See Fig. 3 and Eq. (2). It holds.", ["See Fig. 3 and Eq. (2).", "It holds."]),
        (
            "Smith et al. (2019) say so. We agree.",
            ["Smith et al. (2019) say so.", "We agree."],
        ),
        ("As in Ba et al. [@ba]. Good.", ["As in Ba et al. [@ba].", "Good."]),
        (
            "A rate of 0.001 is used, i.e. Adam's default. Yes.",
            ["A rate of 0.001 is used, i.e. Adam's default.", "Yes."],
        ),
        ("It is 3. Then 4 follows.", ["It is 3.", "Then 4 follows."]),
        ("Let $x = 0. Y$ be. Then $z$.", ["Let $x = 0. Y$ be.", "Then $z$."]),
        ("Is it so? Yes! Good.", ["Is it so?", "Yes!", "Good."]),
        ("He wrote “it works.” We doubt it.", ["He wrote “it works.”", "We doubt it."]),
        (
            "D. P. Kingma and J. Ba wrote it. We use it.",
            ["D. P. Kingma and J. Ba wrote it.", "We use it."],
        ),
        (
            "We invert the matrix A. Then we stop.",
            ["We invert the matrix A.", "Then we stop."],
        ),
        (
            "See https://example.org/a. Then go.",
            ["See https://example.org/a.", "Then go."],
        ),
        (
            "The answer is no. We stop at No. 5.",
            ["The answer is no.", "We stop at No. 5."],
        ),
        (
            "We use dropout, batch norm, etc. All help.",
            ["We use dropout, batch norm, etc.", "All help."],
        ),
        ("The loss falls. $L$ is small.", ["The loss falls.", "$L$ is small."]),
        (
            "The loss falls. [fig:loss] shows it.",
            ["The loss falls.", "[fig:loss] shows it."],
        ),
        (
            "See App. [app:more] and Sect. [sec:two]. Done.",
            ["See App. [app:more] and Sect. [sec:two].", "Done."],
        ),
        ("  \n ", []),
    ],
)
def test_papers_are_split_where_a_reader_would(paragraph: str, expected: list[str]) -> None:
    assert list(split(paragraph)) == expected


@given(st.lists(WORDS, max_size=40).map(" ".join) | st.text(max_size=300))
@settings(max_examples=150)
def test_joined_sentences_are_the_paragraph(paragraph: str) -> None:
    sentences = split(paragraph)
    assert " ".join(sentences) == " ".join(paragraph.split())
    assert all(sentences)


@settings(max_examples=50)
@given(
    st.lists(
        st.sampled_from(["We", "say.", "$a. B = c. D$", "[@x. Y; @z]"]),
        min_size=1,
        max_size=20,
    )
)
def test_formulas_and_citations_stay_whole(words: list[str]) -> None:
    for sentence in split(" ".join(words)):
        assert sentence.count("$") % 2 == 0
        assert sentence.count("[@") == sentence.count("]")
