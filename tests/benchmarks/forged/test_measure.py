"""The harness: one case through the real command, what is kept of it, and what counts as
believed.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.forged.card import scorecard
from benchmarks.forged.case import ForgedCase, catalogue
from benchmarks.forged.case_run import ForgedResult, is_stopped, run_case
from benchmarks.forged.history import make_history
from benchmarks.forged.measure import measure_all, read_results
from reenact.errors import Stopped
from reenact.types import ExitCode, Progress, Stop, tell_nobody

pytestmark = pytest.mark.release


def _result(case: ForgedCase, verdict: str, exit_code: int) -> ForgedResult:
    return ForgedResult(case.id, case.identity, verdict, exit_code, "it says so", 1.0)


def test_a_case_runs_through_the_real_command() -> None:
    case = catalogue(["g4-absent"])[0]

    result = run_case(case, Stop())

    assert (result.verdict, result.exit_code) == ("not reproduced", ExitCode.FOUND), result.reason
    assert result.kept(case)
    assert not result.believed


def test_a_command_that_was_stopped_or_killed_gives_no_result() -> None:
    assert [code for code in (130, -9, -15, 0, 1, 2, 3) if is_stopped(code)] == [
        130,
        -9,
        -15,
    ]


def test_the_history_is_two_commits_that_are_the_same_every_time(
    tmp_path: Path,
) -> None:
    first = make_history("plain", tmp_path / "first")
    second = make_history("plain", tmp_path / "second")

    assert (first.buggy, first.fixed) == (second.buggy, second.fixed)
    assert first.buggy != first.fixed


def test_a_stop_continues_where_it_was(tmp_path: Path) -> None:
    cases = catalogue(["p01-claim", "p02-product", "g4-absent"])
    file, stop, ran, notes = (
        tmp_path / "results.jsonl",
        Stop(),
        list[str](),
        list[str](),
    )

    def effect(case: ForgedCase, _stop: Stop) -> ForgedResult:
        ran.append(case.id)
        stop.ask()
        return _result(case, "inconclusive", 3)

    def tell(progress: Progress) -> None:
        notes.append(progress.note)

    with pytest.raises(Stopped):
        measure_all(cases, file, jobs=1, fresh=False, tell=tell, stop=stop, effect=effect)
    assert ran == [cases[0].id]
    assert notes[0].startswith("about "), "minutes are stated before the first case"

    with file.open("a") as torn:
        torn.write('{"case": "papers/p02')
    results = _measured(cases, file, ran)

    assert ran == [case.id for case in cases]
    assert [result.case for result in results] == ran
    assert set(read_results(file)) == set(ran)


def test_a_changed_case_and_a_fresh_start_are_run_again(tmp_path: Path) -> None:
    case = catalogue(["p01-claim"])[0]
    file, ran = tmp_path / "results.jsonl", list[str]()
    measured = _measured([case], file, ran)

    assert _measured([case], file, ran) == measured
    assert len(ran) == 1

    file.write_text(file.read_text().replace(case.identity, "of other files"))
    _measured([case], file, ran)
    assert len(ran) == 2

    _measured([case], file, ran, fresh=True)
    assert len(ran) == 3


def _measured(
    cases: list[ForgedCase], file: Path, ran: list[str], *, fresh: bool = False
) -> list[ForgedResult]:
    def effect(case: ForgedCase, _stop: Stop) -> ForgedResult:
        ran.append(case.id)
        return _result(case, "inconclusive", 3)

    return measure_all(
        cases, file, jobs=1, fresh=fresh, tell=tell_nobody, stop=Stop(), effect=effect
    )


FORGERY, ABSENT = catalogue(["p01-claim"])[0], catalogue(["g4-absent"])[0]


@pytest.mark.parametrize(
    ("forged", "honest", "exit_code"),
    [
        (("inconclusive", 3), ("not reproduced", 1), ExitCode.OK),
        (("reproduced", 0), ("not reproduced", 1), ExitCode.FOUND),
        (("inconclusive", 3), ("inconclusive", 3), ExitCode.FOUND),
        (("none", 0), ("not reproduced", 1), ExitCode.FOUND),
        (("none", 2), ("not reproduced", 1), ExitCode.OK),
    ],
)
def test_goals_are_met_when_nothing_forged_is_believed_and_the_honest_stay(
    forged: tuple[str, int], honest: tuple[str, int], exit_code: ExitCode
) -> None:
    cases = [FORGERY, ABSENT]
    results = [_result(FORGERY, *forged), _result(ABSENT, *honest)]

    card = scorecard(cases, results, whole=True)

    assert card.exit_code is exit_code
    assert card.measured["believed"].whole == 1
    assert card.measured["kept"].whole == 1


def test_a_part_of_the_cases_meets_no_goal_but_may_miss_one() -> None:
    sound = [_result(FORGERY, "inconclusive", 3)]

    assert scorecard([FORGERY], sound, whole=False).exit_code is ExitCode.INCONCLUSIVE
    believed = [replace(sound[0], verdict="reproduced", exit_code=0)]
    assert scorecard([FORGERY], believed, whole=False).exit_code is ExitCode.FOUND


def test_a_shown_bug_without_confirmation_is_not_belief() -> None:
    case = catalogue(["s11-lying-length-alone"])[0]

    assert not _result(case, "shown, unconfirmed", 3).believed
