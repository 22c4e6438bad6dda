"""The scorecard of `python -m benchmarks sandbox` says what was measured."""

from __future__ import annotations

import dataclasses
import json

import pytest

from benchmarks.hostile.case import benign_cases, hostile_cases
from benchmarks.hostile.judge import Judgement
from benchmarks.hostile.measure import Measured, measure, score
from benchmarks.hostile.start_cost import StartCost
from reenact.errors import InputError, Stopped
from reenact.sandbox.box import MIB
from reenact.types import ExitCode, Stop, tell_nobody


def well(number: str) -> Judgement:
    case = next(case for case in (*hostile_cases(), *benign_cases()) if case.id == number)
    return Judgement(
        case,
        "x",
        "ok",
        (),
        (),
        (),
        left_running=0,
        late_s=-1.0,
        supervisor_bytes=20 * MIB,
    )


def measured(*hostile: Judgement, tier: str = "x", benign: tuple[Judgement, ...] = ()) -> Measured:
    return Measured(tier, hostile, benign or (well("B05"),), StartCost(30.0, 1.0, 40.0, 20.0))


def test_all_goals_met() -> None:
    card = score([measured(well("H25"), well("H27"))], "x", {"container": "no engine answers"})
    assert card.exit_code is ExitCode.OK
    assert card.figures == (
        "x: 2/2 contained, 2/2 named, 2/2 gone, 2/2 unchanged, 2/2 small, 1/1 benign alive, "
        "start 30 ms against 1.0 ms (x30), Python 40 ms against 20 ms (x2.0)"
    )
    assert [table.title for table in card.tables] == [
        "Hostile programs and benign twins, by tier",
        "Not run on this machine",
    ]
    json.dumps(card.facts)


def test_one_escape_misses_a_goal_and_is_named() -> None:
    bad = dataclasses.replace(well("H27"), escapes=("a secret came out",))
    card = score([measured(well("H25"), bad)], "x", {})
    assert card.exit_code is ExitCode.FOUND
    assert [goal.reached for goal in card.goals if goal.met is False] == ["1/2"]
    assert card.tables[-1].rows == (("H27", "secrets in the home folder", "a secret came out"),)


def test_a_dead_twin_misses_a_goal() -> None:
    dead = dataclasses.replace(well("B05"), misnamed=("wanted ok",))
    card = score([measured(well("H25"), benign=(dead,))], "x", {})
    assert [goal.name for goal in card.goals if goal.met is False] == ["benign twins alive"]


def test_goals_are_those_of_the_judged_tier_alone() -> None:
    bad = dataclasses.replace(well("H27"), escapes=("a secret came out",))
    card = score([measured(well("H27")), measured(bad, tier="y")], "x", {})
    assert card.exit_code is ExitCode.OK
    assert [row[0] for row in card.tables[0].rows] == ["x", "y"]
    assert card.tables[-1].title == "Not passed on y"


def test_without_any_sandbox_nothing_could_be_measured() -> None:
    assert score([], "", {"bubblewrap": "not installed"}).exit_code is ExitCode.INCONCLUSIVE


def test_a_tier_nobody_knows_is_an_input_error() -> None:
    with pytest.raises(InputError, match="no sandbox of that name"):
        measure(tier="nothing", tell=tell_nobody, stop=Stop())


def test_a_stop_is_seen_before_the_next_program() -> None:
    stop = Stop()
    stop.ask()
    with pytest.raises(Stopped):
        measure(tier="none", tell=tell_nobody, stop=stop)
