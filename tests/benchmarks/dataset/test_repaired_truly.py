"""Whether what is called repaired is: half of what the author's fix changes, in the same direction."""

from __future__ import annotations

import pytest

from benchmarks.dataset.own import twin_of
from benchmarks.dataset.repaired_truly import Came, came_to, is_true
from benchmarks.dataset.result import TrainingRepair
from benchmarks.dataset.training import read_training


def result(decision: str, after: float = 0.9, author: float | None = 0.9) -> TrainingRepair:
    return TrainingRepair(
        "some",
        "",
        6,
        "code",
        "start",
        decision=decision,
        before=(0.3,) * 6,
        after=(after,) * 6,
        author=() if author is None else (author,) * 6,
    )


@pytest.mark.parametrize(
    ("before", "after", "author", "true"),
    [
        (0.3, 0.9, 0.9, True),
        (0.3, 0.6, 0.9, True),
        (0.3, 0.5, 0.9, False),
        (0.95, 0.8, 0.78, True),  # a leak: the honest number is lower
        (0.95, 0.97, 0.78, False),
        (0.8, 0.8, 0.8, True),
        (0.8, 0.4, 0.8, False),
        (None, 0.6, 0.61, True),
        (None, 0.2, 0.9, False),
        (-5.0, -1.0, -0.5, True),
        (0.3, 0.9, None, None),
    ],
)
def test_a_repair_is_true_beside_the_authors_fix(
    before: float | None, after: float, author: float | None, true: bool | None
) -> None:
    assert is_true((before,) * 6, (after,) * 6, (author,) * 6) is true


def test_each_repair_came_to_one_thing() -> None:
    assert came_to(result("repaired")) is Came.TRULY
    assert came_to(result("fixed", after=0.4)) is Came.FALSELY
    assert came_to(result("improved", author=None)) is Came.UNJUDGED
    assert came_to(result("better-fault-remains")) is Came.REMAINS
    assert came_to(result("too-small")) is Came.NOTHING
    assert came_to(result("not-trained")) is Came.NOTHING


def test_the_sound_twin_of_a_program_stands_for_its_fix() -> None:
    twin = twin_of(read_training("free-ctr_reranker"))
    assert twin is not None
    assert twin.id == "free-ctr_reranker-sound"
    assert twin.sound
    assert twin_of(twin) is None
