"""What a depth may cost."""

from __future__ import annotations

from reenact.diagnosis.options import BUDGETS, PLANS, Depth, budget_for


def test_the_usual_budget_is_that_of_the_depth() -> None:
    assert budget_for(Depth.NORMAL, "") is BUDGETS[Depth.NORMAL]
    assert budget_for(Depth.DEEP, "").multiple > budget_for(Depth.NORMAL, "").multiple
    assert budget_for(Depth.NORMAL, "12t").trainings == 12


def test_every_plan_has_seeds_enough_for_a_test_of_ranks() -> None:
    assert min(plan.seeds for plan in PLANS.values()) >= 6


def test_short_trainings_are_tried_more_ways_on_more_seeds() -> None:
    usual = PLANS[Depth.NORMAL]
    short = usual.for_short_trainings()
    assert (short.screening_seeds, short.screened, short.seeds) == (
        3,
        2 * usual.screened,
        usual.seeds,
    )
