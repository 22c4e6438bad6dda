"""The account of a trainer, on trainings that follow a formula."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.testing.formula import search_context, set_to
from reenact.testing.strategy import rate_decides
from reenact.trials.trial import Part

LONGER = Patch((set_to(Kind.EPOCHS, 24),))


def test_every_training_is_paid_for_once() -> None:
    given = search_context(rate_decides, budget="20x")
    trainer = given.context.trainer
    trainer.scores([LONGER, LONGER])
    trainer.scores([LONGER])
    assert len(given.executor.ran) == 2, "one to measure the cost, one of the change"
    assert (trainer.usage.trainings, trainer.usage.spent) == (2, 3.0)


def test_a_trainer_apart_has_an_account_of_its_own() -> None:
    trainer = search_context(rate_decides, budget="4x").context.trainer
    judge = trainer.apart(part=Part.JUDGE)
    judge.samples([LONGER], (1, 2))
    assert judge.usage.trainings == 2
    assert trainer.usage.trainings == 1
    assert trainer.within_budget(3)


@pytest.mark.parametrize(
    ("budget", "cost", "fits"), [("5x", 4.0, True), ("2x", 4.0, False), ("3t", 2.0, True)]
)
def test_the_budget_decides_what_trainings_cost(budget: str, cost: float, fits: bool) -> None:
    trainer = search_context(rate_decides, budget=budget).context.trainer
    assert trainer.cost(LONGER, 2) == cost
    assert trainer.within_budget(cost) is fits


def test_what_others_spent_is_charged() -> None:
    trainer = search_context(rate_decides, budget="20x").context.trainer
    trainer.charge(2.5)
    assert trainer.balance == (3.5, 20.0)


def test_a_repeated_training_is_done_again() -> None:
    given = search_context(rate_decides)
    trainer = given.context.trainer
    first = trainer.trial(Patch(()), trainer.seeds[0])
    trainer.outcomes([first, replace(first, repeat=1)])
    trainer.outcomes([first, replace(first, repeat=1)])
    assert [trial.repeat for trial in given.executor.ran] == [0, 1]
