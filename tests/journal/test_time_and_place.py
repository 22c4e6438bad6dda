"""C20 and C21: clocks that jump and processes that are gone change nothing that matters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from reenact.journal import Journal, Kind, Status
from reenact.journal.records import Clock


class JumpingClock(Clock):
    """A clock that tests move: `wall` in any direction, `passed` only forward."""

    def __init__(self) -> None:
        self.wall = datetime(2026, 1, 1, tzinfo=UTC)
        self.passed = 0.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.passed

    def work(self, seconds: float) -> None:
        """Let time pass for both."""
        self.wall += timedelta(seconds=seconds)
        self.passed += seconds


def test_order_and_durations_do_not_depend_on_the_wall_clock() -> None:
    clock = JumpingClock()
    with Journal.in_memory(clock=clock) as journal:
        ids = []
        for jump in (timedelta(days=-400), timedelta(days=4000), timedelta(hours=-1)):
            with journal.run(pipeline="tale", request=str(jump)) as run:
                run.step("before", lambda: clock.work(2.0), kind=Kind.BOX)
                clock.wall += jump
                run.step("after", lambda: clock.work(3.0), kind=Kind.BOX, inputs=str(jump))
                run.finish(None)
            ids.append(run.record.id)
        assert [run.id for run in journal.runs()] == ids[::-1]
        first = journal.find(ids[0])
        assert first.worked_s == 5.0
        assert [step.path for step in journal.steps(first)] == [
            "tale/before",
            "tale/after",
        ]
        assert [step.duration_s for step in journal.steps(first)] == [2.0, 3.0]
        assert first.ended_at is not None
        assert first.ended_at < first.started_at


def test_the_newest_run_is_continued_though_the_clock_says_it_is_older() -> None:
    clock = JumpingClock()
    with Journal.in_memory(clock=clock) as journal:
        with journal.run(pipeline="tale", request=1, fresh=True):
            pass
        clock.wall -= timedelta(days=3650)
        with journal.run(pipeline="tale", request=1, fresh=True) as second:
            pass
        with journal.run(pipeline="tale", request=1) as run:
            assert run.record.id == second.record.id


def test_work_of_all_executions_adds_up_though_each_process_has_its_own_monotonic_clock() -> None:
    clock = JumpingClock()
    with Journal.in_memory(clock=clock) as journal:
        with journal.run(pipeline="tale", request=1) as run:
            run.step("a", lambda: clock.work(7.0), kind=Kind.BOX)
        clock.passed = 0.0
        with journal.run(pipeline="tale", request=1) as run:
            run.step("b", lambda: clock.work(5.0), kind=Kind.BOX)
            assert run.record.worked_s == 12.0
            clock.work(2.0)
            assert run.worked_s == 14.0


def test_a_run_whose_process_ended_in_the_middle_of_a_box_run(folder: Path) -> None:
    """Nothing is asked of the old process: its id may belong to anybody."""
    journal = Journal.open(folder)
    run = journal.run(pipeline="tale", request=1)
    run._recorder.begin([run._recorder.request("tale/box", Kind.BOX, 1, None)])
    journal.close()
    with Journal.open(folder) as journal:
        assert journal.status_of(journal.find("last")) == "interrupted"
        with journal.run(pipeline="tale", request=1) as run:
            assert run.step("box", lambda: "in a new box", kind=Kind.BOX) == "in a new box"
            run.finish(None)
        [step] = journal.steps(journal.find("last"))
        assert (step.tries, journal.find("last").status) == (2, Status.FINISHED)
