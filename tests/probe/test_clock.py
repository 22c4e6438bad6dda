"""The time that small experiments may take, on an idle machine and on a busy one."""

from __future__ import annotations

from typing import Any

from reenact.probe import injected
from reenact.probe.clock import contention


def clock(wall: list[float], worked: list[float]) -> Any:
    clocks, works = iter(wall), iter(worked)
    return injected.part("clock").Clock(lambda: next(clocks), lambda: next(works))


def test_wall_time_counts_for_less_on_a_busy_machine() -> None:
    one = clock([100.0, 104.0, 110.0], [0.0, 90.0, 180.0])
    assert one.now() == 4.0
    one.contention = 3.0
    assert one.now() == 6.0


def test_time_counts_for_no_more_than_was_worked() -> None:
    one = clock([0.0, 10.0], [0.0, 2.5])
    assert one.now() == 2.5


def test_a_measurement_leaves_what_has_passed_as_it_was() -> None:
    one = clock([0.0, 2.0, 5.0, 5.0], [0.0, 2.0, 5.0, 5.0])
    one.measure()
    assert one.contention >= 1.0
    assert one.now() == 2.0


def test_no_machine_is_less_busy_than_an_idle_one() -> None:
    assert contention() >= 1.0
