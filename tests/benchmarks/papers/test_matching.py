"""A fingerprint against the list made by hand: what is the same, what is missed, what is too
much.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.papers.cases import HandMade, load_cases
from benchmarks.papers.matching import covers, recalled
from reenact.intake.papers.paper import Paper
from reenact.paper.criterion import Category, Criterion, CriterionCheck, Kind, Level

RATE = HandMade(
    "H01",
    "gradient descent with a learning rate of 0.05",
    "learning rate",
    "0.05",
    True,
)


def criterion(
    fact: str, quote: str, paper: Paper, check: CriterionCheck | None = None, name: str = "F1"
) -> Criterion:
    return Criterion(
        name,
        fact,
        "training",
        quote,
        paper.find(quote),
        Level.PARAGRAPH,
        Category.SETUP,
        2,
        check,
    )


@pytest.mark.parametrize(
    ("fact", "quote", "fits"),
    [
        ("The learning rate is 0.05.", "a learning rate of 0.05", True),
        ("The rate of learning is $5 \\times 10^{-2}$.", "learning rate of 0.05", True),
        ("The optimiser is plain gradient descent.", "gradient descent", False),
        ("The learning rate is 0.05.", "We take 200 steps", True),
        ("Training takes 200 steps.", "We take 200 steps", False),
        ("The learning rate is 0.5.", "We take 200 steps", False),
    ],
)
def test_parameter_and_value_or_a_near_fact_of_the_sentence(
    paper: Paper, fact: str, quote: str, fits: bool
) -> None:
    assert covers(criterion(fact, quote, paper), [RATE], paper) == (("H01",) if fits else ())


def test_a_check_may_say_it_in_place_of_the_fact(paper: Paper) -> None:
    check = CriterionCheck(Kind.PARAMETER, "learning rate", "0.05")
    assert covers(
        criterion("Set as stated.", "learning rate of 0.05", paper, check),
        [RATE],
        paper,
    ) == ("H01",)


def test_facts_of_one_sentence_are_distinguished(paper: Paper) -> None:
    quote = "The error is the mean absolute error on 50 held-out points"
    listed = [
        HandMade("H1", quote, "metric", "mean absolute error", True),
        HandMade("H2", quote, "held-out points", "50", True),
    ]
    stated = {
        "The metric is the mean absolute error.": ("H1",),
        "There are 50 held-out points.": ("H2",),
        "There are 60 held-out points.": (),
        "The metric is the mean absolute error on 50 held-out points.": ("H1", "H2"),
        "Absolute values of the errors are averaged.": ("H1",),
    }
    assert {fact: covers(criterion(fact, quote, paper), listed, paper) for fact in stated} == stated


def test_a_rule_alone_in_its_sentence_is_known_by_it(paper: Paper) -> None:
    quote = "We fit a line slowly."
    rule = HandMade("H1", quote, "haste", "none", True)
    crowd = [rule, HandMade("H2", quote, "shape", "a straight one", True)]
    stated = criterion("Progress is gradual.", quote, paper)
    assert covers(stated, [rule], paper) == ("H1",)
    assert covers(stated, crowd, paper) == ()


def test_a_table_holds_many_facts(paper: Paper) -> None:
    listed = HandMade("H9", "Slow Slopes | 0.07", "error of the mean", "2.5", True)
    table = criterion("Something else is 2.5.", "Slow Slopes | 0.07", paper)
    assert covers(table, [listed], paper) == (), "the same table and the same value are not enough"
    same = criterion("The error of the mean is 2.5.", "Slow Slopes | 0.07", paper)
    assert covers(same, [listed], paper) == ("H9",), "the same fact of the same table is"


def test_recall_counts_what_must_be_there_and_precision_all_that_was_taken(
    paper: Paper, folder: Path
) -> None:
    (case,) = load_cases(folder)
    taken = [
        criterion("The learning rate is 0.05.", "a learning rate of 0.05", paper, name="F1"),
        criterion("Training takes 200 gradient steps.", "We take 200 steps", paper, name="F2"),
        criterion("There are 50 held-out points.", "on 50 held-out points", paper, name="F3"),
        criterion("Weights start at zero.", "We fit a line slowly.", paper, name="F4"),
        Criterion(
            "F5",
            "x",
            "y",
            "words that are nowhere",
            (),
            Level.FRAMEWORK,
            Category.SETUP,
            1,
        ),
    ]
    fits = recalled(taken, case.criteria, paper)
    assert (fits.found, fits.must, fits.missed) == (2, 3, ("H03",))
    assert (fits.right, fits.taken, fits.extra) == (3, 5, ("F4", "F5"))
    assert fits.grounded == 4
    assert fits.recall == pytest.approx(2 / 3)
    assert fits.precision == pytest.approx(3 / 5)


def test_nothing_taken_has_no_precision(paper: Paper, folder: Path) -> None:
    (case,) = load_cases(folder)
    fits = recalled([], case.criteria, paper)
    assert (fits.recall, fits.precision) == (0.0, None)
