"""What of a paper travels: tight formulas, the sections that a task rests on, what was added to
it.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.intake.papers.paper import Equation, Paper, Paragraph, Section, Sentence
from reenact.paper.bearing import (
    LEFT_OUT,
    LONG,
    SHORTENED,
    bearing_text,
    compact,
    read_text,
    with_added,
)
from reenact.paper.grounding import ground
from reenact.paper.options import Goal


@pytest.mark.parametrize(
    ("text", "tight"),
    [
        ("rate $1 0 ^ { - 4 }$ in plain words", "rate $10^{-4}$ in plain words"),
        (r"$\alpha x + \frac { 1 } { N }$", r"$\alpha x+\frac{1}{N}$"),
        (r"$$\sum _ { i = 1 } ^ { N } \lambda y$$", r"$$\sum_{i=1}^{N}\lambda y$$"),
        ("no formula { here }", "no formula { here }"),
    ],
)
def test_spaced_formulas_are_compacted(text: str, tight: str) -> None:
    assert compact(text) == tight


def test_the_bibliography_does_not_travel(paper: Paper) -> None:
    thanks = Section(
        "9",
        1,
        "Acknowledgements",
        (Paragraph("9:1", (Sentence("9:1.1", "We thank all."),)),),
    )
    assert "We thank" not in read_text(replace(paper, sections=(*paper.sections, thanks)))


def test_sections_that_nothing_rests_on_are_left_out_and_named(paper: Paper) -> None:
    whole = bearing_text(paper, (), frozenset())
    part = bearing_text(paper, ("1:1.1",), frozenset({"1:1.1"}))
    assert LEFT_OUT not in whole
    assert "The mixing weight" in part
    assert "[1:1.1] (withheld" in part
    assert "SGD" not in part
    assert "2.1 Setup" in part
    assert len(part) < len(whole)


def long_paper(paper: Paper) -> Paper:
    """The paper with a section of sixty long paragraphs, a formula among them."""
    blocks: list[Paragraph | Equation] = [
        Paragraph(f"7:{number}", (Sentence(f"7:{number}.1", f"Fact {number} holds. " * 80),))
        for number in range(1, 61)
    ]
    blocks[40] = Equation("7:41", "a = b")
    return replace(paper, sections=(*paper.sections, Section("7", 1, "Details", tuple(blocks))))


def test_of_a_long_section_only_paragraphs_travel_that_something_rests_on(
    paper: Paper,
) -> None:
    long = long_paper(paper)
    part = bearing_text(long, ("1:1.1", "7:9.1"), frozenset({"7:8.1"}))
    assert [number for number in range(1, 61) if f"Fact {number} holds" in part] == [
        9,
        10,
    ]
    assert "[7:8.1] (withheld" in part
    assert "$$a=b$$" in part, "a formula may define what a paragraph uses"
    assert SHORTENED in part
    assert len(part) < LONG < len(bearing_text(long, (), frozenset()))


def test_nothing_is_cut_where_all_is_asked_for_or_the_section_itself_is_named(
    paper: Paper,
) -> None:
    long = long_paper(paper)
    for places in ((), ("7",)):
        part = bearing_text(long, places, frozenset())
        assert SHORTENED not in part
        assert "Fact 60 holds" in part


def test_a_short_paper_is_cut_by_sections_alone(paper: Paper) -> None:
    assert SHORTENED not in bearing_text(paper, ("1:1.1",), frozenset())


def test_facts_may_rest_on_what_was_added(paper: Paper) -> None:
    added = with_added(
        paper, Goal(addendum="The seed of the data is 17.", instruction="Use float64.")
    )
    sentence, places = "The seed of the data is 17.", ("added:1.1",)
    assert ground(added, sentence, ["added:1.1"]) == (sentence, places)
    assert "[added:2.1] Use float64." in read_text(added)
    assert with_added(paper, Goal(task="rings")) is paper
