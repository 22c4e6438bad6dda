"""When to stop: the user asks, or the time of the whole command is up."""

from __future__ import annotations

import signal
import time

from reenact.errors import BudgetSpent, Stopped, TimeSpent, ended_by
from reenact.types import ExitCode, Stop
from waiting import LONGEST_S


def test_without_a_limit_only_the_user_stops() -> None:
    stop = Stop()
    assert (stop.asked, stop.remaining(), stop.within(3.0), stop.within(None)) == (
        False,
        None,
        3.0,
        None,
    )
    stop.ask()
    assert (stop.asked, stop.by_user, stop.time_is_up) == (True, True, False)


def test_the_time_runs_from_where_the_command_began() -> None:
    over = Stop(10.0, began=time.monotonic() - 11)
    assert (over.asked, over.by_user, over.time_is_up, over.within(5.0)) == (
        True,
        False,
        True,
        0.0,
    )
    assert over.wait(LONGEST_S)
    left = Stop(1000.0).within(2000.0)
    assert left is not None
    assert 900 < left <= 1000


def test_a_wait_ends_when_the_time_is_up() -> None:
    stop = Stop(0.05)
    assert stop.wait(600)
    assert not Stop().wait(0.01)


def test_a_child_ends_with_its_parent_and_may_end_earlier() -> None:
    parent = Stop()
    child = Stop(parent=parent)
    child.ask()
    assert (child.asked, parent.asked) == (True, False)
    other = Stop(parent=parent)
    parent.ask()
    assert other.by_user
    assert other.wait(600)
    timed = Stop(parent=Stop(5.0, began=0.0))
    assert (timed.time_is_up, timed.limit) == (True, 5.0)


def test_the_first_ctrl_c_ends_the_time_and_wants_a_verdict() -> None:
    parent = Stop(1000.0)
    child = Stop(parent=parent)
    assert not child.verdict_asked
    parent.ask_verdict()
    assert (child.verdict_asked, child.asked, child.time_is_up, child.by_user) == (
        True,
        True,
        True,
        False,
    )
    assert (child.remaining(), child.within(5.0), parent.limit) == (0.0, 0.0, 1000.0)
    early = ended_by(child, "Between two steps.")
    assert isinstance(early, TimeSpent)
    assert early.sentence == "Stopped by you. Between two steps."
    assert "--max-time" not in early.sentence + early.next_step
    child.ask()
    assert type(ended_by(child, "Between two steps.")) is Stopped


def test_the_error_says_who_ended_the_work() -> None:
    asked = Stop(5.0, began=0.0)
    late = ended_by(asked, "Stopped while a model was asked.")
    assert isinstance(late, TimeSpent)
    assert isinstance(late, BudgetSpent)
    assert late.exit_code is ExitCode.INCONCLUSIVE
    assert "--max-time 5 s" in late.sentence
    asked.ask()
    stopped = ended_by(asked, "Stopped while a model was asked.")
    assert type(stopped) is Stopped
    assert stopped.exit_code is ExitCode.STOPPED


def test_a_signal_in_the_middle_of_a_wait_ends_it() -> None:
    before = signal.getsignal(signal.SIGALRM)
    try:
        for turn in range(200):
            stop = Stop()
            signal.signal(signal.SIGALRM, lambda *_, asked=stop: asked.ask())
            signal.setitimer(signal.ITIMER_REAL, 1e-4 + 1e-6 * turn)
            while not stop.wait(2e-5):
                pass
            assert stop.by_user
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
