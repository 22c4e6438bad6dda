"""guided, over trainings that follow a formula."""

from __future__ import annotations

import pytest

from reenact.program.fault import Fault
from reenact.program.knob import Kind
from reenact.program.patch import Patch
from reenact.repair.strategies.guided import Guided
from reenact.testing.formula import Suspicion, Values, set_to, workbench


def rate_decides(values: Values) -> float:
    rate = values[Kind.LEARNING_RATE]
    assert isinstance(rate, float)
    return 0.9 if 5e-4 <= rate <= 5e-3 else 0.3


def both_needed(values: Values) -> float:
    return 0.3 + 0.6 * (rate_decides(values) > 0.5 and values[Kind.BATCH_SIZE] == 16)


def test_a_right_suspicion_is_found_and_nothing_is_added_to_it() -> None:
    given = workbench(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9))
    found = Guided().search(given.bench)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))


def test_without_any_suspicion_priors_find_it() -> None:
    found = Guided().search(workbench(rate_decides).bench)
    assert [change.knob.kind for change in found[0].changes] == [Kind.LEARNING_RATE]


def test_two_changes_that_help_only_together() -> None:
    given = workbench(
        both_needed,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.8),
        Suspicion(Kind.BATCH_SIZE, 16, 0.7, Fault.HBS),
    )
    found = Guided().search(given.bench)
    assert {change.knob.kind for change in found[0].changes} == {Kind.LEARNING_RATE, Kind.BATCH_SIZE}


@pytest.mark.parametrize("budget", ["6", "10", "20"])
def test_the_budget_holds_and_the_reserve_stays(budget: str) -> None:
    given = workbench(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9), budget=budget, noise=0.02)
    given.bench.reserve = 1.0
    Guided().search(given.bench)
    assert given.bench.attempts.spent <= float(budget) - 1.0 + 1e-6


def test_nothing_helps_and_nothing_is_found() -> None:
    assert Guided().search(workbench(lambda values: 0.5).bench) == []


def test_a_perfect_training_is_left_alone() -> None:
    given = workbench(lambda values: 1.0)
    assert Guided().search(given.bench) == []
    assert len(given.executor.ran) == 1


def test_short_trainings_come_first() -> None:
    given = workbench(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9))
    Guided().search(given.bench)
    shares = [look.share for look in given.bench.looks if look.patch]
    assert shares[0] < 1
    assert shares[-1] == 1


def test_a_training_that_fails_before_and_works_after_is_a_repair() -> None:
    given = workbench(
        lambda values: None if values[Kind.LEARNING_RATE] == 0.5 else 0.8,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.9),
    )
    assert Guided().search(given.bench)[0].complexity == 1


def test_the_best_so_far_is_told_as_it_comes() -> None:
    given = workbench(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9))
    Guided().search(given.bench)
    assert given.best
    assert given.bench.best is not None
    assert given.bench.best.score == max(look.score for look in given.bench.looks if look.share == 1)


def test_of_nearly_equal_changes_the_accused_one_is_taken() -> None:
    def either(values: Values) -> float:
        rate = 0.91 if values[Kind.LEARNING_RATE] == 0.01 else 0.3
        return max(rate, 0.9 if values[Kind.BATCH_SIZE] == 64 else 0.3)

    given = workbench(either, Suspicion(Kind.BATCH_SIZE, 64, 0.95, Fault.HBS))
    found = Guided().search(given.bench)
    assert [change.knob.kind for change in found[0].changes] == [Kind.BATCH_SIZE]
