"""The harness: what is kept and continued, and when the goals are met."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.hypotheses.card import scorecard
from benchmarks.hypotheses.case import ClaimCase, catalogue
from benchmarks.hypotheses.case_run import Asked, ClaimResult, run_case, unknown
from benchmarks.hypotheses.measure import Plan, known_results, measure_all, read_results, store
from reenact.errors import Stopped
from reenact.types import ExitCode, Progress, Stop, tell_nobody

WRONG, TRUE = catalogue(["rate-peak"])[0], catalogue(["worst-epoch"])[0]
NO_COST = catalogue(["scaler-of-all-rows"])[0]
MOVED = {"likely": "as expected", "remark": "it did not move"}


def _result(case: ClaimCase, status: str, gate: str = "") -> ClaimResult:
    moved = "" if gate else MOVED.get(status, "")
    return ClaimResult(case.id, case.identity, True, status, gate, "it says so", moved)


@pytest.mark.parametrize(
    ("statuses", "exit_code"),
    [
        (("remark", "likely", "remark"), ExitCode.OK),
        (("refuted", "proven", "remark"), ExitCode.OK),
        (("likely", "likely", "remark"), ExitCode.FOUND),
        (("remark", "remark", "remark"), ExitCode.FOUND),
        (("remark", "likely", "refuted"), ExitCode.FOUND),
        (("remark", "likely", "not tested"), ExitCode.FOUND),
    ],
)
def test_goals_are_met_where_wrong_claims_end_and_true_ones_do_not(
    statuses: tuple[str, str, str], exit_code: ExitCode
) -> None:
    cases = [WRONG, TRUE, NO_COST]
    results = [_result(case, status) for case, status in zip(cases, statuses, strict=True)]

    assert scorecard(cases, results, effect=True, whole=True).exit_code == exit_code


def test_a_part_of_the_cases_and_gates_alone_meet_no_goal_of_the_effect() -> None:
    cases = [WRONG, TRUE]
    part = scorecard(
        cases, [_result(WRONG, "remark"), _result(TRUE, "likely")], effect=True, whole=False
    )
    gates = scorecard(
        cases, [_result(WRONG, "remark"), _result(TRUE, "remark")], effect=False, whole=True
    )

    assert part.exit_code == ExitCode.INCONCLUSIVE
    assert [goal.met for goal in gates.goals] == [None, None, True]
    assert gates.name == "hypotheses-gates"


def test_the_gate_that_stopped_a_claim_stands_in_its_row() -> None:
    cases = [WRONG, TRUE]
    results = [_result(WRONG, "refuted", "red on the program"), _result(TRUE, "likely")]

    card = scorecard(cases, results, effect=True, whole=True)
    wrong, true = card.tables[0].rows, card.tables[1].rows

    assert wrong[0][:5] == (
        "rate-peak",
        "vision",
        "training, better",
        "refuted",
        "red on the program",
    )
    assert true[0][3:5] == ("LIKELY", "nothing")
    assert ("red on the program", "1", "0") in card.tables[2].rows


def test_a_stop_continues_where_it_was(tmp_path: Path) -> None:
    cases = catalogue(["a"])[:3]
    plan, stop = Plan(tmp_path), Stop()
    ran: list[str] = []
    notes: list[str] = []

    def effect(asked: Asked, _stop: Stop) -> ClaimResult:
        ran.append(asked.case.id)
        stop.ask()
        return _result(asked.case, "remark")

    def tell(progress: Progress) -> None:
        notes.append(progress.note)

    with pytest.raises(Stopped):
        measure_all(cases, plan, tell=tell, stop=stop, effect=effect)
    assert ran == [cases[0].id]
    assert notes[0].startswith("about "), "minutes are stated before the first case"

    with plan.file.open("a") as torn:
        torn.write('{"case": "wrong/')
    results = _measured(cases, plan, ran)

    assert ran == [case.id for case in cases]
    assert [result.case for result in results] == ran
    assert set(read_results(plan.file)) == set(ran)


def test_a_changed_case_and_a_fresh_start_are_run_again(tmp_path: Path) -> None:
    plan = Plan(tmp_path)
    ran: list[str] = []
    measured = _measured([WRONG], plan, ran)

    assert _measured([WRONG], plan, ran) == measured
    assert len(ran) == 1

    plan.file.write_text(plan.file.read_text().replace(WRONG.identity, "of other files"))
    _measured([WRONG], plan, ran)
    assert len(ran) == 2

    _measured([WRONG], replace(plan, fresh=True), ran)
    assert len(ran) == 3
    _measured([WRONG], replace(plan, effect=False), ran)
    assert len(ran) == 4, "the gates alone are another measurement"


def _measured(cases: list[ClaimCase], plan: Plan, ran: list[str]) -> list[ClaimResult]:
    def effect(asked: Asked, _stop: Stop) -> ClaimResult:
        ran.append(asked.case.id)
        return _result(asked.case, "remark")

    return measure_all(cases, plan, tell=tell_nobody, stop=Stop(), effect=effect)


@pytest.mark.release
def test_a_case_goes_through_its_gates(tmp_path: Path) -> None:
    case = catalogue(["kept-context"])[0]

    result = run_case(Asked(case, effect=False, journal=tmp_path / "journal"), Stop())

    assert (result.status, result.gate) == ("remark", ""), result.saw
    assert result.gates["green after the edit"] is True


def test_stored_verdicts_speak_for_cases_that_have_not_changed(tmp_path: Path) -> None:
    file = tmp_path / "verdicts.jsonl"
    changed = replace(_result(TRUE, "likely"), identity="of other files")

    store([_result(WRONG, "remark"), changed], file)
    store([_result(NO_COST, "remark")], file)

    assert set(read_results(file)) == {WRONG.id, TRUE.id, NO_COST.id}
    found = known_results([WRONG, TRUE, NO_COST], Plan(tmp_path), file)
    assert set(found) == {WRONG.id, NO_COST.id}


def test_what_was_not_executed_is_in_no_figure() -> None:
    cases = [WRONG, TRUE]
    results = [_result(WRONG, "remark"), unknown(TRUE, effect=True)]

    card = scorecard(cases, results, effect=True, whole=True)

    assert f"{card.measured['wrong']:count}" == "0 of 1"
    assert f"{card.measured['true']:count}" == "0 of 0"
    assert card.exit_code == ExitCode.INCONCLUSIVE
    assert card.tables[1].rows[0][3:5] == ("not executed", "not executed")
