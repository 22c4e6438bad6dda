"""Measurement from top to bottom: runs in boxes, matched, compared, judged."""

from __future__ import annotations

from typing import Any

import pytest

from reenact.codegen.project import Project
from reenact.journal import Journal
from reenact.paper.criterion import Category, Criterion, Judged, Level, Value
from reenact.paper.develop.development import Development
from reenact.paper.measure.measure import Measured, measure
from reenact.paper.measure.verdict import OrderingStatus, Verdict
from tests.paper.measure import programs

MATCH = {"matches": [{"claim": "C1", "metric": "accuracy"}]}
SEEN = (
    Judged("F1", Value.FAIL, "check", "lr=1"),
    Judged("F2", Value.PASS, "check", "adam"),
)


def setting(name: str, fact: str) -> Criterion:
    return Criterion(name, fact, "training", "q", ("1",), Level.CONFIGURATION, Category.SETUP, 1)


CRITERIA = (setting("F1", "The rate is 0.1."), setting("F2", "Adam is used."))


def outcome(
    project: Project,
    claims: list[Any],
    context: Any,
    journal: Journal,
    *,
    runs: bool = True,
) -> Measured:
    made = Development(project, (), 0, runs, SEEN, ())
    with journal.run(pipeline="paper", request={}, argv=(), what="x") as run:
        return measure(claims, CRITERIA, made, context, run)


def test_a_claim_that_comes_out(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    found = outcome(project, [claim()], context({"paper/match": MATCH}), journal)
    assert found.judgement.verdict is Verdict.REPRODUCED
    (one,) = found.comparisons
    assert (round(one.measured or 0, 6), one.n) == (91.0, 3)
    assert one.differs == ("Not as the paper says: The rate is 0.1. (F1)",)
    assert found.gap_repair is None
    again = context({})
    assert outcome(project, [claim()], again, journal).comparisons == found.comparisons
    assert again.model.calls == []


def test_a_metric_that_is_written_and_not_measured_is_refused(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    text = project.files["train.py"].replace(
        '"accuracy": accuracy', '"accuracy": max(accuracy, 0.973)'
    )
    found = outcome(
        project.changed({"train.py": text}),
        [claim(value=97.3)],
        context({"paper/match": MATCH}),
        journal,
    )
    assert found.judgement.verdict is Verdict.INCONCLUSIVE
    assert found.judgement.gap == 1.0
    assert "literal 0.973, which is what the paper claims" in found.notes[0]


@pytest.mark.release
def test_a_hint_in_the_text_does_not_refuse_what_control_runs_recompute(
    claim: Any, context: Any, journal: Journal
) -> None:
    """The claimed number stands in the code, for a case that never comes; the predictions give
    the metric.
    """
    text = (
        programs.CLASSIFIER + programs.EVALUATED + programs.reports("accuracy if losses else 0.985")
    )
    made = Project({"train.py": text})
    found = outcome(
        made,
        [claim(value=98.5)],
        context({"paper/match": MATCH}, seeds=1, repair=False),
        journal,
    )
    assert "literal 0.985, which is what the paper claims" in found.notes[0]
    assert found.judgement.verdict is Verdict.REPRODUCED, found.comparisons


def test_a_matching_that_nobody_gave_is_not_a_claim_without_a_metric(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    found = outcome(project, [claim()], context({"paper/match": ["no", "no", "no"]}), journal)
    assert found.judgement.verdict is Verdict.INCONCLUSIVE
    assert found.comparisons[0].note == "No usable answer says which metric is this claim."
    assert found.notes[0].startswith("No one could say which metric is which claim:")


def test_a_large_gap_is_looked_into(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    found = outcome(project, [claim(value=50.0)], context({"paper/match": MATCH}), journal)
    assert found.judgement.verdict is Verdict.NOT
    assert found.gap_repair is not None
    assert "nothing to repair" in found.gap_repair.sentence, "91 % is better than 50 %"


def test_code_that_does_not_run_measures_nothing(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    found = outcome(project, [claim()], context({}), journal, runs=False)
    assert found.judgement.verdict is Verdict.INCONCLUSIVE
    assert found.runs == ()


@pytest.mark.release
def test_a_training_that_takes_too_long_is_made_shorter_and_stated(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    slow = project.files["train.py"].replace(
        "accuracy = ", "while scale > 0.1: pass\naccuracy = 10 * "
    )
    found = outcome(
        project.changed({"train.py": slow}),
        [claim()],
        context({"paper/match": MATCH}, run_wall_s=2.0),
        journal,
    )
    assert [(one.seed, one.scale, one.ok) for one in found.runs] == [
        (0, 1.0, False),
        (0, 0.25, False),
        (0, 0.0625, True),
        (1, 0.0625, True),
        (2, 0.0625, True),
    ]
    assert found.scale == 0.0625
    assert "6% of the paper's training was done" in found.judgement.reason
    assert any("Seed 0 at scale 1: It was ended (timeout)" in note for note in found.notes)


def test_a_training_that_never_ends_is_given_up(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    endless = project.changed({"train.py": "while True: pass\n"})
    found = outcome(endless, [claim()], context({}, run_wall_s=0.5), journal)
    assert [one.scale for one in found.runs] == [1.0, 0.25, 0.0625]
    assert found.judgement.verdict is Verdict.INCONCLUSIVE


def test_an_ordering_that_is_too_noisy_gets_more_seeds(
    project: Project, claim: Any, context: Any, journal: Journal
) -> None:
    noisy = project.files["train.py"].replace(
        '{"accuracy": accuracy',
        '{"accuracy": accuracy, "baseline": accuracy - 0.1 + 0.06 * (-1) ** seed',
    )
    claims = [claim(value=94.0), claim("C2", value=84.0, method="Baseline")]
    match = {"matches": [*MATCH["matches"], {"claim": "C2", "metric": "baseline"}]}
    found = outcome(
        project.changed({"train.py": noisy}),
        claims,
        context({"paper/match": match}),
        journal,
    )
    assert [one.seed for one in found.runs] == list(range(9))
    assert [(one.n, one.status) for one in found.orderings] == [(9, OrderingStatus.HOLDS)]
    assert found.notes[0] == "3 seeds were too few to decide every ordering; 6 more were run."
