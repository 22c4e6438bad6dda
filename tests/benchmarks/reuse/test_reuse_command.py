"""How the marks of two watched runs are read, and counted."""

from __future__ import annotations

import pytest

from benchmarks.reuse.command import BROKEN, PROGRAMS, Marked, all_cases, card, judged

pytestmark = pytest.mark.release

RUN = {"mark": "a", "blind": [], "files": {"file /data": "1"}, "ended": "finished"}


def test_equal_marks_are_reused() -> None:
    assert judged("x", [RUN, RUN]) == Marked("x", is_reused=True, cause="")


def test_each_program_that_is_not_reused_has_its_cause() -> None:
    other = {**RUN, "mark": "b", "files": {"file /data": "2"}}
    assert judged("x", [RUN, other]).cause == "differs: file /data"
    assert judged("x", [RUN, {**RUN, "mark": "b"}]).cause == "surroundings differ"
    assert (
        judged("x", [{**RUN, "blind": ["it uses the network"]}, RUN]).cause == "it uses the network"
    )
    assert judged("x", [{}, RUN]).cause == "the program could not be watched"


def test_the_goal_compares_with_the_older_checkout() -> None:
    yes, no = (
        Marked("a", is_reused=True, cause=""),
        Marked("b", is_reused=False, cause="differs: x"),
    )
    lost = card({"after": [yes, no], "before": [yes, Marked("b", is_reused=True, cause="")]}, 2)
    assert [goal.met for goal in lost.goals] == [False]
    assert "1 of 2 reused, before 2 of 2" in lost.figures
    kept = card({"after": [yes, no], "before": [yes, no]}, 3)
    assert [goal.met for goal in kept.goals] == [True]
    assert "1 not measured yet" in kept.figures
    assert [goal.met for goal in card({"after": [yes]}, 1).goals] == [None]


def test_fifty_programs_are_chosen_beside_the_broken_ones() -> None:
    cases = all_cases()
    names = [case.name for case in cases]
    assert len(set(names)) == len(names)
    assert len([case for case in cases if case.folder != BROKEN]) == PROGRAMS
    assert cases == all_cases()
