from __future__ import annotations

import pytest

from benchmarks.scorecard import Goal, Scorecard


@pytest.mark.parametrize(
    ("met", "code"),
    [
        ((True, True), 0),
        ((True, False), 1),
        ((None, False), 1),
        ((True, None), 3),
        ((), 3),
    ],
)
def test_exit_code_says_met_missed_or_not_measured(met: tuple[bool | None, ...], code: int) -> None:
    goals = tuple(Goal(f"goal {i}", "1", "1", value) for i, value in enumerate(met))
    assert Scorecard("x", "1 of 1", goals).exit_code == code
