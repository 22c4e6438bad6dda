"""Grounding: by place and by words, with gaps, nearly, or not at all."""

from __future__ import annotations

import pytest

from reenact.intake.papers.paper import Paper
from reenact.paper.grounding import ground, rests_on_formula


@pytest.mark.parametrize(
    ("quote", "named", "places"),
    [
        ("learning rate 0.05 and momentum 0.9", ["2.1:1.3"], ("2.1:1.3",)),
        ("learning rate 0.05 and momentum 0.9", ["[2.1:1.3]", "9:9"], ("2.1:1.3",)),
        ("learning rate 0.05 and momentum 0.9", [], ("2.1:1.3",)),
        ("learning rate 0.05 and momentum 0.9", ["1:1.1"], ("2.1:1.3",)),
        ("learning rate 0.05 and momentum 0.9", ["2.1:1"], ("2.1:1.3",)),
        (
            "The prediction is not differentiated through. The network has two",
            ["1:3.3", "1:3.4"],
            ("1:3.3", "1:3.4"),
        ),
        ("Training uses SGD ... for 100 epochs", ["2.1:1.3"], ("2.1:1.3",)),
        (
            "We use the Rings data set [...] means over 10 seeds",
            [],
            ("2.1:1.1", "2.1:1.4"),
        ),
        ("gradient clipping | 1.0", ["2.1:2"], ("2.1:2",)),
        ("1.0", ["2.1:2"], ("2.1:2",)),
        ("Setting | gradient clipping", [], ("2.1:2",)),
    ],
)
def test_a_quote_is_found(
    paper: Paper, quote: str, named: list[str], places: tuple[str, ...]
) -> None:
    assert ground(paper, quote, named) == (quote, places)


def test_a_nearly_right_quote_becomes_the_sentence_itself(paper: Paper) -> None:
    found = ground(
        paper,
        "Training used SGD with a learning rate 0.05 and momentum 0.9 for 100 epochs",
        ["2.1:1.3"],
    )
    assert isinstance(found, tuple)
    assert found[0].startswith("Training uses SGD with learning rate 0.05")
    assert found[1] == ("2.1:1.3",)


@pytest.mark.parametrize(
    ("quote", "named", "why"),
    [
        (
            "Training uses SGD with learning rate 0.5 and momentum 0.9 for 100 epochs",
            ["2.1:1.3"],
            "not in the paper",
        ),
        ("learning rate 00.5 and momentum 0.9", ["2.1:1.3"], "not in the paper"),
        ("a warm-up of five epochs", ["2.1:1.3"], "its quote is not in the paper"),
        (
            "a warm-up of five epochs",
            ["8:1.1"],
            "its quote and its places are not in the paper",
        ),
        ("SGD", [], "too short"),
        ("Training uses SGD ... with cosine decay", ["2.1:1.3"], "not in the paper"),
        ("", ["2.1:1.3"], "too short"),
        ("Setup", ["2.1"], "too short"),
        ("gradient clipping | 5.0", ["2.1:2"], "its quote is not in the paper"),
        ("gradient clipping | $10^{-4}$", ["2.1:2"], "its quote is not in the paper"),
        ("Value | gradient clipping | 10", ["2.1:2"], "its quote is not in the paper"),
    ],
)
def test_a_quote_is_not_found(paper: Paper, quote: str, named: list[str], why: str) -> None:
    found = ground(paper, quote, named)
    assert isinstance(found, str)
    assert why in found


def test_equations_are_known(paper: Paper) -> None:
    assert rests_on_formula(paper, ["1:1.1", "1:2"])
    assert not rests_on_formula(paper, ["1:1.1", "2.1:2"])
