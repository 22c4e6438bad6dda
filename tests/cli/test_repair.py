"""The page of a repair, and what the command line refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from reenact.cli.training import repair
from reenact.errors import InputError
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.minimise import ReductionStep
from reenact.repairs.search_context import Evaluation
from reenact.repairs.verdict import BeforeAfter, Decision, Judging, Repair, Verdict
from reenact.report.render import FORMATS, render
from reenact.report.views.repair import repair_document
from reenact.testing.strategy import PROGRAM, set_to
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.trials.statistics import compare
from reenact.trials.trial import Part

PATCH = Patch((set_to(Kind.LEARNING_RATE, 0.001),))
BEFORE, AFTER = (0.3, 0.31, 0.29, 0.3, 0.32, 0.3), (0.9, 0.91, 0.92, 0.9, 0.89, 0.93)
MEASURE = Measure("test_accuracy")


def found(decision: Decision = Decision.REPAIRED) -> Repair:
    comparison = compare(BEFORE, AFTER)
    return Repair(
        strategy="guided",
        decision=decision,
        patch=PATCH,
        diff=PATCH.diff(PROGRAM),
        judging=Judging(MEASURE, MEASURE, Part.SEARCH, Part.JUDGE, "halves"),
        verdicts=(Verdict(PATCH, tuple(range(6)), BEFORE, AFTER, comparison, 0.016, decision),),
        looks=(
            Evaluation(Patch(()), 0.3, 1, 1.0, 1.0),
            Evaluation(PATCH, 0.9, 1, 1.0, 2.0),
            Evaluation(PATCH, 0.8, 1, 0.3, 1.5),
        ),
        cuts=(ReductionStep(PATCH, 0.98, True, 5),),
        cost=TrainingUsage(12.0, 9, 8.5, 1.0, 12),
        why=("UM005 learning-rate-high: learning rate 0.5",),
        curves={"loss": BeforeAfter(((0, 2.0), (5, 1.9)), ((0, 2.0), (5, 0.3)))},
        notes=("one thing to know",),
    )


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_shows_the_change_and_the_verdict(form: str) -> None:
    text = render(repair_document(replace(found(), applied="Written."), "train.py"), form)
    assert "learning_rate=0.001" in text or form in ("concise", "github", "sarif")
    if form in ("full", "markdown", "html", "json"):
        assert "Repaired by 1 change" in text


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision.REPAIRED, "Repaired by 1 change"),
        (Decision.IMPROVED, "Improved by 1 change"),
        (Decision.RUNS_NOW, "No improvement is shown"),
        (Decision.TOO_SMALL, "too little to matter"),
        (Decision.NOT_SIGNIFICANT, "No change holds"),
        (Decision.GOOD_ALREADY, "performs well already"),
    ],
)
def test_each_decision_has_its_sentence(decision: Decision, words: str) -> None:
    assert words in found(decision).sentence
    assert "±" in found(decision).sentence or decision is Decision.GOOD_ALREADY


def test_the_report_says_what_was_not_seen_and_what_is_no_improvement() -> None:
    weak = replace(found(Decision.NOT_SIGNIFICANT).verdicts[0], detectable=0.08)
    ends = replace(
        found(Decision.RUNS_NOW).verdicts[0],
        shortfall="no better than a constant answer",
    )
    one = replace(found(Decision.RUNS_NOW), verdicts=(weak, ends))
    text = " ".join(render(repair_document(one, "train.py"), "full").split())
    assert "not significant; a gain of 0.08 or more would have been seen 4 times out of 5." in text
    assert "no better than a constant answer." in text
    assert "runs-now" in text


def test_seeds_that_tie_are_reported_where_the_others_are_too_few() -> None:
    before, after = (0.5,) * 6, (0.5, 0.5, 0.6, 0.6, 0.6, 0.6)
    one = found(Decision.NOT_SIGNIFICANT)
    tied = replace(one.verdicts[-1], seeds=tuple(range(6)), comparison=compare(before, after))
    assert "Only 4 of 6 seeds differ at all" in replace(one, verdicts=(tied,)).sentence
    assert "Only" not in one.sentence
    five = replace(tied, comparison=compare(before, (0.5, *(0.6,) * 5)))
    assert "Only" not in replace(one, verdicts=(five,)).sentence
    second = replace(five, p_value=3 * five.comparison.p_value)
    assert (
        "cannot reach p < 0.05; give --seeds 12" in replace(one, verdicts=(five, second)).sentence
    )


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (Decision.TOO_SMALL, "--metric"),
        (Decision.RUNS_NOW, "--metric"),
        (Decision.NOT_SIGNIFICANT, "--budget 40x"),
        (Decision.NOTHING_FOUND, "--budget 40x"),
        (Decision.NOT_DECIDED, "--max-time"),
    ],
)
def test_every_failure_says_what_to_do_next(decision: Decision, words: str) -> None:
    assert words in found(decision).sentence


def test_where_nothing_helped_the_best_that_was_tried_is_named() -> None:
    param = found(Decision.NOTHING_FOUND).patch
    looks = (
        Evaluation(Patch(()), 0.5, 1, 1.0, 1.0),
        Evaluation(param, 0.45, 1, 1.0, 2.0),
    )
    nothing = replace(found(Decision.NOTHING_FOUND), verdicts=(), looks=looks)
    assert "Changes tried: 1" in nothing.sentence
    assert "test_accuracy 0.45, unchanged 0.5." in nothing.sentence


def test_nothing_found_recommends_nothing() -> None:
    nothing = replace(found(Decision.NOTHING_FOUND), verdicts=(), patch=Patch(()), diff="")
    assert "nothing is to be recommended" in nothing.sentence
    assert "The change" not in render(repair_document(nothing, "train.py"), "full")


def test_a_branch_without_apply_is_refused(tmp_path: Path) -> None:
    ended = CliRunner().invoke(repair, ["--branch", "x", str(tmp_path / "train.py")])
    assert isinstance(ended.exception, InputError)
