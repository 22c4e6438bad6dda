"""`python -m benchmarks first`: what counts as a true finding, and what the slowest decides."""

from __future__ import annotations

from benchmarks.first_finding import BROKEN, TRUE, Timed, card
from reenact.types import ExitCode

FOUND = Timed("torch_gestures.py", 12.0, 17.0, ("line 38: HLR TC011", "line 44: ZGR RE010"))


def test_every_program_has_its_truth() -> None:
    assert sorted(TRUE) == sorted(path.name for path in BROKEN.glob("*.py"))


def test_a_finding_is_true_by_its_type_of_fault_or_its_rule() -> None:
    assert FOUND.is_true
    assert not Timed("torch_gestures.py", 1.0, 1.0, ("line 38: HLR TC011",)).is_true
    assert Timed("torch_stamps.py", 1.0, 1.0, ("line 23: - RE901",)).is_true
    assert not Timed("torch_stamps.py", 1.0, 1.0, ()).is_true


def test_the_slowest_and_every_program_decide() -> None:
    assert card([FOUND]).exit_code is ExitCode.OK
    slow = Timed("torch_stamps.py", 61.0, 9.0, ("line 23: - RE901",))
    assert [goal.met for goal in card([FOUND, slow]).goals] == [False, True]
    assert card([]).exit_code is ExitCode.INCONCLUSIVE
