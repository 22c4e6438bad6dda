"""Twins print what they say, ask what was recorded, and a tool with one answer misses the goals."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from statistics import mean, stdev
from typing import Any, get_args

import pytest

from benchmarks.papers.card import scorecard
from benchmarks.papers.case_result import CaseResult
from benchmarks.papers.cases import PaperCase, load_cases
from benchmarks.papers.matching import Recalled
from benchmarks.papers.runner import BenchRunner, CaseRun
from benchmarks.papers.twins import Kind, TwinReplay, twin_paper
from benchmarks.papers.variant import ONE_SHOT, WHOLE, variants_of
from benchmarks.scorecard import Scorecard
from reenact.errors import InputError, ReplayMiss
from reenact.intake.papers.paper import Paper
from reenact.intake.papers.read import read_paper
from reenact.journal import Journal
from reenact.llm.recording import Replay
from reenact.paper.bearing import bearing_text, with_added
from reenact.paper.measure.verdict import Verdict
from reenact.paper.review.claims import Claims, stated_claims, withheld
from reenact.sandbox.choose import choose

pytestmark = pytest.mark.release

CASES = {case.id: case for case in load_cases()}
TWINS = tuple(name for name, case in CASES.items() if case.twin is not None)
BOX = choose(trust_code=True)
MEASURED = {
    "damped-octaves-untuned": (
        "damped-octaves/reference",
        ("explained_variance_by_learning_rate", "0.001"),
    ),
    "damped-octaves-other-seeds": (
        "damped-octaves-other-seeds",
        ("explained_variance",),
    ),
    "earned-trust-leaked": ("earned-trust-leaked", ("accuracy",)),
}
"""Twins whose numbers were measured, and where."""


def twin(name: str) -> Any:
    return CASES[name].twin


@cache
def paper(name: str) -> Paper:
    """As it is asked about: with what the goal adds."""
    case = CASES[name]
    if case.twin is None:
        return with_added(read_paper(str(case.paper), box=BOX), case.goal.goal)
    with twin_paper(case.twin, case.paper) as folder:
        return with_added(read_paper(str(folder), box=BOX), case.goal.goal)


@cache
def claims(name: str) -> Claims:
    case = CASES[name]
    replay = Replay(case.folder / "recordings" / "whole.jsonl")
    model = replay if case.twin is None else TwinReplay(replay, case.twin)
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}, what=name) as run,
    ):
        found = stated_claims(paper(name), case.goal.goal, model, run)
        run.finish({})
    return found


def test_there_are_false_papers_and_true_ones() -> None:
    verdicts = [case.expected for case in CASES.values()]
    assert len(verdicts) >= 6
    assert sum(one is not Verdict.REPRODUCED for one in verdicts) >= 3
    assert sum(one is Verdict.REPRODUCED for one in verdicts) >= 3
    kinds = {twin(name).kind for name in TWINS}
    assert kinds == set(get_args(Kind))


@pytest.mark.parametrize("name", TWINS)
def test_the_paper_can_be_put_back(name: str) -> None:
    printed, case = paper(name).text(), paper(twin(name).of).text()
    assert printed != case
    assert twin(name).original(printed) == case


@pytest.mark.parametrize("name", TWINS)
def test_the_claims_are_asked_for_in_recorded_words_and_have_the_printed_numbers(
    name: str,
) -> None:
    stated, recorded = claims(name), claims(twin(name).of)
    assert stated.dropped == recorded.dropped
    assert [one.id for one in stated.asked] == [one.id for one in recorded.asked]
    asked = {(one.method, one.value, one.spread) for one in stated.asked}
    assert asked != {(one.method, one.value, one.spread) for one in recorded.asked}
    assert {(one.method, one.value) for one in CASES[name].wanted} <= {one[:2] for one in asked}


@pytest.mark.parametrize("name", TWINS)
def test_whoever_writes_code_reads_the_recorded_words(name: str) -> None:
    read, case = (
        bearing_text(paper(one), (), withheld(paper(one), claims(one).claims))
        for one in (name, twin(name).of)
    )
    assert twin(name).original(read) == case


@pytest.mark.parametrize("name", MEASURED)
def test_printed_numbers_were_measured(name: str) -> None:
    where, keys = MEASURED[name]
    folder = (
        Path(CASES[twin(name).of].folder).parent if where.startswith(twin(name).of + "/") else None
    )
    root = folder or Path(CASES["earned-trust"].folder).parent
    found = json.loads((root / where / "measured.json").read_bytes())
    for key in keys:
        found = found[key]
    for row in twin(name).rows:
        assert mean(found[row.method]) == pytest.approx(float(row.now), abs=0.051), row
        assert stdev(found[row.method]) == pytest.approx(float(row.now_spread), abs=0.051), row


def test_a_question_that_was_not_recorded_is_refused() -> None:
    name = "earned-trust-inflated"
    wrong = replace(twin(name), rows=(replace(twin(name).rows[0], now="87.7"),))
    case = CASES[name]
    with (
        twin_paper(wrong, case.paper) as folder,
        Journal.in_memory() as journal,
        journal.run(pipeline="paper", request={}, what=name) as run,
    ):
        model = TwinReplay(Replay(case.folder / "recordings" / "whole.jsonl"), wrong)
        with pytest.raises(ReplayMiss, match="is not what was asked about earned-trust"):
            stated_claims(read_paper(str(folder), box=BOX), case.goal.goal, model, run)
        run.finish({})


def test_a_twin_is_asked_of_whole_methods_alone(tmp_path: Path) -> None:
    false = CASES["earned-trust-flipped"]
    whole, without, shot = variants_of(["lineage"], [ONE_SHOT])
    with Journal.in_memory() as journal:
        runner = BenchRunner(journal, BOX, tmp_path)
        asked = [runner.answers(CaseRun(false, variant)) for variant in (whole, without, shot)]
    assert asked == [True, False, True]


def test_a_twin_of_nothing_gives_a_sentence(folder: Path) -> None:
    place = folder / "lost"
    place.mkdir()
    text = (
        Path(CASES["earned-trust"].folder).parent / "earned-trust-inflated" / "twin.toml"
    ).read_text()
    (place / "twin.toml").write_text(text)
    with pytest.raises(InputError, match="twin of 'earned-trust', which is not there"):
        load_cases(folder)


def card_of(verdict: Verdict | None) -> Scorecard:
    """What the card says of a tool that reaches one verdict, or with none the true ones."""

    def result(case: PaperCase) -> CaseResult:
        return CaseResult(
            case.id,
            WHOLE.name,
            0,
            verdict or case.expected,
            "So.",
            executed=True,
            gap=0.0,
            recalled=Recalled(10, 10, (), 10, 10, (), 10),
        )

    cases = list(CASES.values())
    return scorecard(cases, [WHOLE], [result(case) for case in cases])


@pytest.mark.parametrize(
    ("verdict", "missed"),
    [
        (None, set()),
        (Verdict.REPRODUCED, {"true verdicts", "false papers that are not"}),
        (Verdict.NOT, {"true verdicts", "true papers that are reproduced"}),
        (Verdict.PARTLY, {"true verdicts", "true papers that are reproduced"}),
        (Verdict.INCONCLUSIVE, {"true verdicts", "true papers that are reproduced"}),
    ],
)
def test_a_tool_with_one_answer_misses_goals(verdict: Verdict | None, missed: set[str]) -> None:
    card = card_of(verdict)
    assert {goal.name for goal in card.goals if goal.met is False} == missed
    (table,) = [one for one in card.tables if one.title == "Verdicts, the whole method"]
    assert sum(int(cell) for row in table.rows for cell in row[1:]) == len(CASES)
    assert set(card.facts["derived"]) == set(TWINS)
