"""What came of a repair: which data judge, what each decision means, which verdict decides."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.repairs.search_context import Evaluation
from reenact.repairs.verdict import (
    Decision,
    Judging,
    Repair,
    Verdict,
    deciding,
    judging_by,
    summary,
)
from reenact.testing.strategy import set_to
from reenact.trials.budget import TrainingUsage
from reenact.trials.metric import Measure
from reenact.trials.statistics import compare
from reenact.trials.trial import Outcome, Part

PATCH = Patch((set_to(Kind.LEARNING_RATE, 0.001),))
OTHER = Patch((set_to(Kind.BATCH_SIZE, 16),))
TEST = Measure("test_accuracy", "output")
LOGGED = Outcome(
    OutcomeKind.FINISHED,
    9,
    metrics={"test_accuracy": 0.5, "val_accuracy": 0.6},
    sources={"test_accuracy": "output", "val_accuracy": "keras"},
)
BEFORE, AFTER = (0.3, 0.31, 0.29, 0.3, 0.32, 0.3), (0.5, 0.31, 0.1, 0.4, 0.2, 0.3)
FAILED = (math.nan,) * 6


def with_metrics(**metrics: float) -> Outcome:
    return replace(LOGGED, metrics=metrics)


def verdict(decision: Decision, patch: Patch = PATCH, **more: object) -> Verdict:
    given: dict[str, object] = {
        "before": BEFORE,
        "after": AFTER,
        "comparison": compare(BEFORE, AFTER),
    }
    given |= {"p_value": 0.16} | more
    return Verdict(patch, tuple(range(6)), decision=decision, **given)  # type: ignore[arg-type]


def repair(decision: Decision, *verdicts: Verdict, looks: tuple[Evaluation, ...] = ()) -> Repair:
    loss = Measure("val_loss", larger_is_better=False)
    judging = Judging(loss, TEST, Part.WHOLE, Part.WHOLE, "by another metric")
    return Repair("guided", decision, PATCH, "", judging, verdicts, looks, (), TrainingUsage(1.0))


def test_validation_data_choose_and_test_data_judge() -> None:
    judging = judging_by(TEST, LOGGED)
    assert (judging.search, judging.judge) == (
        replace(TEST, name="val_accuracy", source="keras"),
        TEST,
    )
    assert (judging.search_part, judging.judge_part) == (Part.WHOLE, Part.WHOLE)
    assert judging.held_out
    assert judging.sentence == "searched by val_accuracy, judged by test_accuracy"


def test_only_the_beginning_of_a_name_says_which_data_it_is_of() -> None:
    contest = Measure("test_contest_score")
    logged = with_metrics(test_contest_score=0.5, val_contest_score=0.6)
    assert judging_by(contest, logged).search.name == "val_contest_score"


@pytest.mark.parametrize(
    ("measure", "outcome"),
    [
        pytest.param(TEST, with_metrics(test_accuracy=0.5, val_accuracy=0.5), id="the same data"),
        pytest.param(TEST, with_metrics(test_accuracy=0.5), id="no validation"),
        pytest.param(
            replace(TEST, name="val_accuracy", source="keras"),
            with_metrics(val_accuracy=0.5, test_accuracy=0.6),
            id="not a metric of test data",
        ),
        pytest.param(
            TEST,
            replace(LOGGED, metrics={"test_accuracy": 0.5}, halved=0),
            id="not halved",
        ),
        pytest.param(
            TEST,
            replace(LOGGED, metrics={"loss": 0.5}, sources={}, halved=1),
            id="halved, other metric",
        ),
    ],
)
def test_where_nothing_is_held_out_only_the_seeds_are_fresh(
    measure: Measure, outcome: Outcome
) -> None:
    judging = judging_by(measure, outcome)
    assert judging.search == judging.judge
    assert not judging.held_out
    assert "only the seeds that judge are fresh" in judging.sentence


def test_halves_come_before_validation_data() -> None:
    judging = judging_by(TEST, replace(LOGGED, halved=1))
    assert (judging.search, judging.judge) == (TEST, TEST)
    assert (judging.search_part, judging.judge_part) == (Part.SEARCH, Part.JUDGE)
    assert judging.held_out


def test_the_source_is_kept_where_the_metric_was_read_and_dropped_where_it_was_not() -> None:
    assert judging_by(TEST, with_metrics(test_accuracy=0.5)).judge.source == "output"
    assert (
        judging_by(replace(TEST, source="keras"), with_metrics(test_accuracy=0.5)).judge.source
        is None
    )


def test_what_each_decision_comes_to() -> None:
    helps = {decision for decision in Decision if decision.helps}
    assert helps == {Decision.REPAIRED, Decision.IMPROVED, Decision.FIXED}
    codes = {decision.value: int(decision.exit_code) for decision in Decision}
    assert codes == {
        "repaired": 0,
        "improved": 0,
        "fixed": 0,
        "good-already": 0,
        "better-fault-remains": 1,
        "too-small": 1,
        "nothing-found": 1,
        "runs-now": 3,
        "not-significant": 3,
        "not-decided": 3,
    }


def test_the_verdict_that_decides() -> None:
    runs = verdict(Decision.RUNS_NOW, OTHER)
    weak = verdict(Decision.NOT_SIGNIFICANT)
    better = verdict(Decision.IMPROVED)
    small = verdict(Decision.TOO_SMALL)
    assert deciding(()) is None
    assert deciding((weak, better)) is better
    assert deciding((runs, better)) is better
    assert deciding((runs, weak)) is runs
    assert deciding((weak, runs)) is runs
    assert deciding((weak, small)) is small
    assert repair(Decision.RUNS_NOW, runs, weak).verdict is runs
    assert repair(Decision.NOTHING_FOUND).verdict is None
    assert repair(Decision.NOT_SIGNIFICANT, weak).exit_code == 3


def test_a_crash_that_ends_now_is_reported_to_run_and_not_to_be_better() -> None:
    why = "it trains where it failed before, and what a constant answer scores is unknown"
    ends = verdict(
        Decision.RUNS_NOW,
        before=FAILED,
        after=(0.1,) * 6,
        p_value=1 / 64,
        shortfall=why,
    )
    sentence = repair(Decision.RUNS_NOW, ends).sentence
    assert sentence.startswith(
        "Runs now, but no improvement is shown: test_accuracy failed -> 0.1 ± 0 (6 fresh"
    )
    assert f"p=0.016); {why}. " in sentence


@pytest.mark.parametrize(
    ("judge", "advice"),
    [
        (TEST, "Search wider with --budget 40x, or name the metric that matters with --metric;"),
        (
            Measure("val_loss", larger_is_better=False),
            "Judge by a metric that is bounded, such as accuracy, with --metric.",
        ),
    ],
)
def test_another_metric_is_advised_where_this_one_has_no_bound(judge: Measure, advice: str) -> None:
    why = "it is not significantly better than a constant answer"
    every = compare(BEFORE, (0.5,) * 6)
    ends = verdict(Decision.RUNS_NOW, p_value=1 / 64, shortfall=why, comparison=every)
    whole = repair(Decision.RUNS_NOW, ends)
    sentence = replace(whole, judging=replace(whole.judging, judge=judge)).sentence
    assert f"{why}. {advice}" in sentence


def test_a_result_as_json_says_what_an_improvement_falls_short_of() -> None:
    why = "it is not significantly better than a constant answer"
    every = compare(BEFORE, (0.5,) * 6)
    shown = [
        repair(decision, verdict(decision, shortfall=short, comparison=every)).to_dict()["verdicts"]
        for decision, short in ((Decision.RUNS_NOW, why), (Decision.REPAIRED, ""))
    ]
    assert [verdicts[0]["shortfall"] for verdicts in shown] == [why, None]


def test_a_loss_that_falls_too_far_did_run_before() -> None:
    below = verdict(Decision.RUNS_NOW, shortfall="val_loss -849 is below 0")
    assert repair(Decision.RUNS_NOW, below).sentence.startswith(
        "No improvement is shown: test_accuracy 0.30"
    )
    partly = verdict(Decision.RUNS_NOW, before=(*FAILED[:5], 0.3), shortfall="no better")
    assert repair(Decision.RUNS_NOW, partly).sentence.startswith("No improvement is shown")


def test_not_significant_says_how_large_a_gain_would_have_been_seen() -> None:
    words = "p=0.16; a gain of 0.08 or more would have been seen 4 times out of 5)."
    weak = verdict(Decision.NOT_SIGNIFICANT, detectable=0.08)
    assert words in repair(Decision.NOT_SIGNIFICANT, weak).sentence
    assert (
        repair(Decision.NOT_SIGNIFICANT, weak).to_dict()["verdicts"][0]["detectable_gain"] == 0.08
    )  # type: ignore[index]
    unknown = repair(Decision.NOT_SIGNIFICANT, verdict(Decision.NOT_SIGNIFICANT)).sentence
    assert "p=0.16)." in unknown
    assert verdict(Decision.TOO_SMALL, detectable=0.08).not_seen == ""


def test_sentences_of_changes_to_take_and_not_to_take() -> None:
    better = verdict(Decision.IMPROVED, p_value=0.016)
    improved = repair(Decision.IMPROVED, better).sentence
    assert improved.startswith(
        "Improved by 1 change: test_accuracy 0.3033 ± 0.01 -> 0.3017 ± 0.14 (6 fresh seeds"
    )
    assert improved.endswith("p=0.016).")
    two = replace(repair(Decision.REPAIRED, better), patch=PATCH + OTHER).sentence
    assert two.startswith("Repaired by 2 changes: ")
    small = repair(Decision.TOO_SMALL, verdict(Decision.TOO_SMALL)).sentence
    assert "too little to matter: test_accuracy" in small
    guessing = replace(
        verdict(Decision.TOO_SMALL),
        shortfall="test_accuracy is no better than guessing",
    )
    assert (
        "; test_accuracy is no better than guessing)."
        in repair(Decision.TOO_SMALL, guessing).sentence
    )
    assert small.endswith("look for a larger gain with --budget 40x.")
    assert repair(Decision.GOOD_ALREADY).sentence.endswith("nothing is to be repaired.")
    assert repair(Decision.NOT_DECIDED).sentence.startswith("Not decided: the time was up")


def test_the_numbers_are_those_of_the_metric_that_judges() -> None:
    assert repair(Decision.NOTHING_FOUND).in_numbers == ""
    weak = verdict(Decision.NOT_SIGNIFICANT)
    assert repair(Decision.NOT_SIGNIFICANT, weak).in_numbers.startswith("test_accuracy 0.3033")


def test_where_nothing_helped_the_best_try_is_named() -> None:
    looks = (
        Evaluation(Patch(()), -0.7, 1, 1.0, 1.0),
        Evaluation(PATCH, -0.6, 1, 1.0, 2.0),
        Evaluation(OTHER, -0.9, 1, 1.0, 3.0),
        Evaluation(PATCH + OTHER, -0.1, 1, 0.3, 4.0),
    )
    sentence = repair(Decision.NOTHING_FOUND, looks=looks).sentence
    assert f"Changes tried: 2; the best, {PATCH}: val_loss 0.6, unchanged 0.7." in sentence
    assert "reenact diagnose --depth normal" in sentence
    alone = repair(Decision.NOTHING_FOUND, looks=looks[:1]).sentence
    assert "No change could be tried." in alone
    without_base = repair(Decision.NOTHING_FOUND, looks=looks[1:]).sentence
    assert "unchanged failed." in without_base


@pytest.mark.parametrize(("tied", "few"), [(1, False), (2, True)])
def test_too_few_seeds_that_differ_cannot_decide(tied: int, few: bool) -> None:
    """Five that differ may reach 1/32, four at best 1/16."""
    before, after = (0.5,) * 6, (0.5,) * tied + (0.6,) * (6 - tied)
    compared = compare(before, after)
    weak = verdict(Decision.NOT_SIGNIFICANT, comparison=compared, p_value=compared.p_value)
    sentence = repair(Decision.NOT_SIGNIFICANT, weak).sentence
    assert (f"Only {6 - tied} of 6 seeds differ at all" in sentence) is few
    assert ("give --seeds 12." in sentence) is few
    assert ("Search wider" in sentence) is not few


@pytest.mark.parametrize(("factor", "few"), [(1.5, False), (1.61, True), (3.0, True)])
def test_a_second_change_makes_more_seeds_necessary(factor: float, few: bool) -> None:
    """Five that differ: 1/32 by itself, 0.047 beside a second change, 0.0503 with a smaller
    share.
    """
    compared = compare((0.5,) * 6, (0.5, *(0.6,) * 5))
    weak = verdict(Decision.NOT_SIGNIFICANT, comparison=compared, p_value=factor * compared.p_value)
    assert ("Only 5 of 6" in repair(Decision.NOT_SIGNIFICANT, weak).sentence) is few


def test_a_summary_counts_what_failed() -> None:
    assert summary((0.5,)) == "0.5"
    assert summary((0.4, 0.6)) == "0.5 ± 0.14"
    assert summary((0.4, 0.6, math.nan)) == "0.5 ± 0.14 (1 of 3 failed)"
    assert summary((math.nan, -math.inf)) == "failed"
