"""The mechanical order: baselines and what is built upon first, what everybody cites last."""

from __future__ import annotations

import pytest

from reenact.intake.papers.paper import Paper
from reenact.paper.lineage.cited import candidates, phrases, section_kinds


def test_baselines_come_first_and_classics_last(paper: Paper) -> None:
    ranked = [one.reference.key for one in candidates(paper)]
    assert ranked[:2] == ["moor2021", "vale2020"]
    assert set(ranked[-3:]) == {"survey2019", "kingma2015", "lecun1998"}


def test_reasons_are_those_of_the_text(paper: Paper) -> None:
    by_key = {one.reference.key: one for one in candidates(paper)}
    assert set(by_key["moor2021"].reasons) == {
        "named in a table",
        "a baseline",
        "built upon",
        "cited in the method",
        "cited in the experiments",
        "cited alone",
    }
    assert by_key["vale2020"].tables == by_key["moor2021"].tables != ()
    assert "built upon" not in by_key["vale2020"].reasons
    assert "generic" in by_key["kingma2015"].reasons
    assert by_key["survey2019"].reasons == ("generic", "in passing")
    assert "in passing" not in by_key["aside2017"].reasons, "it is cited twice"


def test_sections_that_say_nothing_are_what_stands_above_them(paper: Paper) -> None:
    kinds = section_kinds(paper)
    assert kinds == {
        "0": "abstract",
        "1": "introduction",
        "2": "method",
        "3": "experiment",
        "3.1": "experiment",
    }


def test_sentences_are_shown_with_their_ids(paper: Paper) -> None:
    first = candidates(paper)[0]
    assert first.text().startswith("key: moor2021\ntitle: Steady Steps: Waiting between Updates")
    assert all(f"[{one.sentence.id}]" in first.text() for one in first.contexts)


@pytest.mark.parametrize(
    ("title", "generic"),
    [
        ("Adam: A Method for Stochastic Optimization", True),
        ("Layer Normalization", True),
        ("PyTorch: An Imperative Style, High-Performance Deep Learning Library", True),
        ("Attention Is All You Need", True),
        ("ImageNet: A Large-Scale Hierarchical Image Database", True),
        ("Adamantine Gates for Recurrent Networks", False),
        ("Decoupled Knowledge Distillation", False),
        ("Slow Targets: Learning from a Mixture of Labels", False),
    ],
)
def test_titles_that_everybody_cites(title: str, generic: bool) -> None:
    assert bool(phrases("sentences")["generic"].search(title)) is generic
