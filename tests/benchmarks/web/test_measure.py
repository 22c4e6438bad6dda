"""The benchmark of the page, small: it makes journals, takes times, and judges them."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.web.measure import Timed, _card, measure, write_journal
from reenact.journal import JournalReader
from reenact.types import ExitCode, Progress, Stop

pytestmark = pytest.mark.release


def test_a_journal_made_for_it_is_a_sound_one(tmp_path: Path) -> None:
    write_journal(tmp_path, [3, 5])
    with JournalReader.open(tmp_path) as shelf:
        assert shelf.check().problems == ()
        assert [run.steps for run in shelf.runs()] == [5, 3]
        assert len(shelf.steps(shelf.find("1"))) == 3


def test_it_prints_times_by_size_with_their_ratio() -> None:
    progress_seen: list[Progress] = []
    card = measure(tell=progress_seen.append, stop=Stop(), runs=(1, 3), steps=(2, 150))
    assert [table.columns[1:] for table in card.tables] == [
        ("1 runs", "3 runs", "ratio"),
        ("2 steps", "150 steps", "ratio"),
    ]
    assert all(goal.met is not None for goal in card.goals)
    assert len(progress_seen) == 4


def test_a_page_that_grows_with_the_journal_misses_the_goal() -> None:
    grown = [
        Timed("list", 1, 0.3),
        Timed("list", 100, 0.02),
        Timed("list", 10_000, 0.4),
    ]
    slow = [Timed("run", 1000, 1.2), Timed("run", 50_000, 1.3)]
    assert [goal.met for goal in _card(grown, slow).goals] == [False, False]
    assert "list" in _card(grown, slow).goals[1].reached
    fast = [Timed("list", 100, 0.002), Timed("list", 10_000, 0.02)]
    assert [goal.met for goal in _card(fast, fast).goals] == [True, False], (
        "fast is no excuse for growing"
    )
    flat = [
        Timed("list", 1, 0.002),
        Timed("list", 100, 0.01),
        Timed("list", 10_000, 0.02),
    ]
    assert _card(flat, flat).exit_code is ExitCode.OK
    assert _card([], []).exit_code is ExitCode.INCONCLUSIVE
