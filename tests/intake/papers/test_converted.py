"""Algorithms in Markdown as converters leave them: found, named, or reported."""

from __future__ import annotations

import pytest

from reenact.intake.papers.assemble import assemble
from reenact.intake.papers.markdown import read_markdown
from reenact.intake.papers.paper import Algorithm, Paper, Table
from reenact.intake.papers.pictures import Pictures


def read(text: str) -> Paper:
    return assemble(read_markdown(text, Pictures(None)), "paper.md")


def algorithms(paper: Paper) -> list[Algorithm]:
    return [one for one in paper.blocks() if isinstance(one, Algorithm)]


HEADED = """# Slow Slopes

# 1. Method

We climb.

# Algorithm 1 Climbing

{steps}

The slope is then measured as in Algorithm 1.

# 2. Results

We won.
"""
TABLE = (
    "<table><tr><td colspan=2>input slope s</td></tr><tr><td>while s &gt; 0 do</td><td>climb "
    "on</td></tr><tr><td>s = s / 2</td><td></td></tr><tr><td>end while</td><td></td></tr></table>"
)


@pytest.mark.parametrize(
    ("steps", "body"),
    [
        (
            "$s_0 = 1$ $t = 0$\n\n$s = 2$ for $t = 1$ to $T$ do $s = s / 2$ end for output $s$",
            "$s_0 = 1$ $t = 0$\n$s = 2$ for $t = 1$ to $T$ do $s = s / 2$ end for output $s$",
        ),
        (
            "Input: slope  \nfor t do climb\nend for",
            "Input: slope\nfor t do climb\nend for",
        ),
        (TABLE, "input slope s\nwhile s > 0 do  climb on\ns = s / 2\nend while"),
    ],
    ids=["paragraphs", "lines", "table"],
)
def test_under_a_heading_it_is_no_section(steps: str, body: str) -> None:
    paper = read(HEADED.format(steps=steps))

    assert [(one.id, one.title) for one in paper.sections] == [
        ("1", "Method"),
        ("2", "Results"),
    ]
    (algorithm,) = algorithms(paper)
    assert (algorithm.label, algorithm.caption, algorithm.body) == (
        "1",
        "Climbing",
        body,
    )
    assert paper.sections[0].blocks[-1].text.startswith("The slope is then measured"), (
        "it swallows nothing"
    )
    assert not paper.lost


def test_a_name_above_a_table_of_steps_without_a_heading() -> None:
    paper = read(
        f"# Slopes\n\n## Method\n\nAlgorithm 3 Climbing (fast)\n\n{TABLE}\n\nFor this we use it.\n"
    )
    (algorithm,) = algorithms(paper)
    assert (algorithm.label, algorithm.caption) == ("3", "Climbing (fast)")
    assert not any(isinstance(one, Table) for one in paper.blocks())
    assert paper.sections[-1].blocks[-1].text == "For this we use it."


@pytest.mark.parametrize(
    "steps",
    [TABLE, "input slope $s$ for $t$ in T do if $s > 0$ then climb end if end for"],
)
def test_steps_without_a_name_are_reported(steps: str) -> None:
    paper = read(f"# Slopes\n\n## Method\n\nWe use Algorithm 4.\n\n{steps}\n")
    (algorithm,) = algorithms(paper)
    assert algorithm.label == ""
    assert [one.kind for one in paper.lost] == ["algorithm"]
    assert "1 came without a name, and the text names Algorithm 4" in paper.lost[0].what


def test_what_is_named_and_not_there_is_reported() -> None:
    words = "We use Algorithm 2, and Algorithm 9 of Lee."
    paper = read(f"# Slopes\n\n## Method\n\n{words}\n\n# Algorithm 1 Climbing\n\nWe are done.")
    assert [one.what for one in paper.lost] == [
        "Algorithm 1 came without its steps.",
        "The text names Algorithm 2, and no such algorithm was read.",
    ]
    assert paper.sections[-1].blocks[-1].text == "We are done."


@pytest.mark.parametrize(
    "text",
    [
        "Algorithm 1 shows the steps. For example, one climbs.",
        "input features and output labels are standardised before the training begins",
        "<table><tr><td>input</td><td>output</td></tr><tr><td>3</td><td>4</td></tr></table>",
    ],
)
def test_what_speaks_of_inputs_is_no_algorithm(text: str) -> None:
    assert algorithms(read(f"# Slopes\n\n## Method\n\nWe climb.\n\n{text}\n")) == []


@pytest.mark.parametrize("after", ["", "\n# 2. Results\n\nWe won."])
def test_a_name_with_nothing_below_it(after: str) -> None:
    paper = read(f"# Slopes\n\n# 1. Method\n\nWe climb.\n\n# Algorithm 1 Climbing{after}")
    assert [one.what for one in paper.lost] == ["Algorithm 1 came without its steps."]
