"""Align-Score: three levels, their scales, and marks that were not given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.intake.papers.paper import Paper
from reenact.journal import Journal
from reenact.llm.scripted import Scripted
from reenact.paper.evaluate.align import DIMENSIONS, AlignScore, Level, align
from reenact.paper.evaluate.quality import read_code
from reenact.paper.options import Goal


def points(**more: Any) -> dict[str, Any]:
    kinds = ["method"] * 3 + ["hyper-parameters", "training"]
    return {
        "points": [
            {
                "name": f"p{number}",
                "kind": kind,
                "text": "t",
                "places": ["1:1.1"],
                **more,
            }
            for number, kind in enumerate(kinds, start=1)
        ]
    }


def marks(*scores: int | None) -> dict[str, Any]:
    return {
        "marks": [
            {"number": number, "compared": "c", "score": score, "reason": "r"}
            for number, score in enumerate(scores, start=1)
        ]
    }


def levels(
    answers: dict[str, Any], paper: Paper, code: Path, *, reference: bool = True
) -> dict[Level, AlignScore]:
    model = Scripted({f"evaluate/{step}": answer for step, answer in answers.items()})
    project = read_code(code)[0]
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="evaluate", request={}) as run,
    ):
        found = align(paper, Goal(), project, model, run, reference=project if reference else None)
    return {one.level: one for one in found}


def test_three_levels_have_a_hundred_points_each(paper: Paper, code: Path) -> None:
    answers = {
        "key-points": points(),
        "align-paper": marks(20, 20, 20, 20, 20),
        "align-code": marks(25, 20, 15, 0),
        "align-mixed": marks(18, 14, 8, 2, 0),
    }
    found = levels(answers, paper, code)
    assert [found[level].score for level in Level] == [100.0, 60.0, 42.0]
    assert [mark.name for mark in found[Level.CODE].marks] == list(DIMENSIONS)


def test_without_a_reference_the_paper_alone_is_judged(paper: Paper, code: Path) -> None:
    found = levels(
        {"key-points": points(), "align-paper": marks(1, 2, 3, 4, 5)},
        paper,
        code,
        reference=False,
    )
    assert list(found) == [Level.PAPER]
    assert found[Level.PAPER].score == 15.0


def test_a_mark_that_was_not_given_is_left_out_with_its_reason(paper: Paper, code: Path) -> None:
    answers = {"key-points": points(), "align-paper": marks(20, None, 10)}
    found = levels(answers, paper, code, reference=False)[Level.PAPER]
    assert (found.score, found.judged) == (75.0, 2)
    assert [mark.score for mark in found.marks] == [20, None, 10, None, None]
    assert found.marks[4].reason == "The judge did not mention it."


@pytest.mark.parametrize(
    "bad", [marks(21, 1, 1, 1, 1), {"marks": []}, "no JSON", {"marks": [{"number": 9}]}]
)
def test_marks_of_no_use_are_no_zero(paper: Paper, code: Path, bad: Any) -> None:
    found = levels({"key-points": points(), "align-paper": [bad] * 9}, paper, code, reference=False)
    assert found[Level.PAPER].score is None
    assert found[Level.PAPER].judged == 0


def test_key_points_of_no_use_leave_the_code_level(paper: Paper, code: Path) -> None:
    answers = {
        "key-points": [points(places=["9:9.9"])] * 9,
        "align-code": marks(25, 25, 25, 25),
    }
    found = levels(answers, paper, code)
    assert found[Level.PAPER].score is None
    assert found[Level.MIXED].score is None
    assert found[Level.CODE].score == 100.0
