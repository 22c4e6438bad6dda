"""guided, over trainings that follow a formula."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reenact.faults.fault_type import FaultType
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import program_from_text
from reenact.repairs.strategies.guided import Guided
from reenact.repairs.strategies.ideas import ideas
from reenact.testing.strategy import (
    SOURCE,
    Suspicion,
    Values,
    played,
    search_context,
    set_to,
)
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.trial import Outcome, Trial


def rate_decides(values: Values) -> float:
    rate = values[Kind.LEARNING_RATE]
    assert isinstance(rate, float)
    return 0.9 if 5e-4 <= rate <= 5e-3 else 0.3


def both_needed(values: Values) -> float:
    return 0.3 + 0.6 * (rate_decides(values) > 0.5 and values[Kind.BATCH_SIZE] == 16)


def test_a_right_suspicion_is_found_and_nothing_is_added_to_it() -> None:
    given = search_context(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9))
    found = Guided().search(given.context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))


def test_without_any_suspicion_priors_find_it() -> None:
    found = Guided().search(search_context(rate_decides).context)
    assert [change.hyperparameter.kind for change in found[0].changes] == [Kind.LEARNING_RATE]


def test_two_changes_that_help_only_together() -> None:
    given = search_context(
        both_needed,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.8),
        Suspicion(Kind.BATCH_SIZE, 16, 0.7, FaultType.HBS),
    )
    found = Guided().search(given.context)
    assert {change.hyperparameter.kind for change in found[0].changes} == {
        Kind.LEARNING_RATE,
        Kind.BATCH_SIZE,
    }


def test_what_is_strongly_suspected_is_changed_at_once_first_as_far_as_it_fits_together() -> None:
    given = search_context(
        both_needed,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.8),
        Suspicion(Kind.BATCH_SIZE, 16, 0.7, FaultType.HBS),
        Suspicion(Kind.LEARNING_RATE, 0.01, 0.6, FaultType.OCH),
        Suspicion(Kind.EPOCHS, 24, 0.2, FaultType.HNE),
    )
    first = ideas(given.context)[0]
    assert first.source == "joint"
    assert first.patch == Patch((set_to(Kind.LEARNING_RATE, 0.001), set_to(Kind.BATCH_SIZE, 16)))


def test_short_trainings_are_looked_at_with_three_seeds() -> None:
    given = search_context(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9), lucky=0.9)
    given.context.trainer.budget = replace(given.context.trainer.budget, exact=False)
    found = Guided().search(given.context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))
    assert min(look.seeds for look in given.context.evaluations) == 3


@pytest.mark.parametrize("budget", ["6x", "10x", "20x"])
def test_the_budget_holds_and_the_reserve_stays(budget: str) -> None:
    given = search_context(
        rate_decides,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.9),
        budget=budget,
        noise=0.02,
    )
    given.context.reserve = 1.0
    Guided().search(given.context)
    assert given.context.trainer.usage.spent <= float(budget[:-1]) - 1.0 + 1e-6


def test_nothing_helps_and_nothing_is_found() -> None:
    assert Guided().search(search_context(lambda values: 0.5).context) == []


def test_a_perfect_training_is_left_alone() -> None:
    given = search_context(lambda values: 1.0)
    assert Guided().search(given.context) == []
    assert len(given.executor.ran) == 1


def test_short_trainings_come_first() -> None:
    given = search_context(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9))
    Guided().search(given.context)
    shares = [look.share for look in given.context.evaluations if look.patch]
    assert shares[0] < 1
    assert shares[-1] == 1


def test_a_training_that_fails_before_and_works_after_is_a_repair() -> None:
    given = search_context(
        lambda values: None if values[Kind.LEARNING_RATE] == 0.5 else 0.8,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.9),
    )
    assert Guided().search(given.context)[0].complexity == 1


def test_a_sure_change_that_loses_the_loss_is_tried_with_smaller_steps() -> None:
    def only_calm(values: Values) -> float | None:
        rate = values[Kind.LEARNING_RATE]
        assert isinstance(rate, float)
        if values[Kind.LOSS] != "mean_squared_error":
            return 0.3
        return 0.9 if rate <= 0.05 else None

    given = search_context(
        only_calm, Suspicion(Kind.LOSS, "mean_squared_error", 0.9, FaultType.LCH)
    )
    found = Guided().search(given.context)
    assert {change.hyperparameter.kind for change in found[0].changes} == {
        Kind.LOSS,
        Kind.LEARNING_RATE,
    }


def test_the_best_so_far_is_reported_as_it_comes() -> None:
    given = search_context(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9))
    Guided().search(given.context)
    assert given.best
    assert given.context.best is not None
    assert given.context.best.score == max(
        look.score for look in given.context.evaluations if look.share == 1
    )


def test_of_nearly_equal_changes_the_suspected_one_is_taken() -> None:
    def either(values: Values) -> float:
        rate = 0.91 if values[Kind.LEARNING_RATE] == 0.01 else 0.3
        return max(rate, 0.9 if values[Kind.BATCH_SIZE] == 64 else 0.3)

    given = search_context(either, Suspicion(Kind.BATCH_SIZE, 64, 0.95, FaultType.HBS))
    found = Guided().search(given.context)
    assert [change.hyperparameter.kind for change in found[0].changes] == [Kind.BATCH_SIZE]


def test_an_idea_that_is_too_expensive_does_not_stand_in_the_way() -> None:
    given = search_context(
        rate_decides,
        Suspicion(Kind.EPOCHS, 240, 0.9, FaultType.HNE),
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.6),
        budget="6x",
    )
    found = Guided().search(given.context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))


def test_while_nothing_helps_the_whole_budget_is_for_the_search() -> None:
    given = search_context(
        lambda values: 0.5, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9), budget="10x"
    )
    assert Guided().search(given.context) == []
    assert given.context.trainer.usage.spent > 0.8 * 10


def test_short_trainings_leave_most_of_a_budget_that_counts_trainings() -> None:
    given = search_context(rate_decides, budget="12t")
    Guided().search(given.context)
    short = [look for look in given.context.evaluations if look.share < 1]
    assert 1 < len(short) <= 4
    assert len(given.executor.ran) <= 12
    assert any(look.share == 1 and look.patch for look in given.context.evaluations)


@pytest.mark.parametrize("can_be_cut", [True, False])
def test_a_long_training_of_few_epochs_is_looked_at_with_a_part_of_its_data(
    can_be_cut: bool,
) -> None:
    program = program_from_text(SOURCE.replace("epochs=12", "epochs=2"))
    suspicion = Suspicion(Kind.LEARNING_RATE, 0.001, 0.9)
    given = search_context(rate_decides, suspicion, program=program, noise=0.01)
    simple = played(rate_decides)

    def long(trial: Trial) -> Outcome:
        (outcome,) = simple.run([trial])
        cut = int(can_be_cut and trial.data < 1)
        seconds = 0.1 if trial.limits.steps else 60.0 * (trial.data if cut else 1.0)
        return replace(outcome, cut=cut, cpu_seconds=seconds, seconds=seconds)

    trainer = given.context.trainer
    trainer.executor, trainer.one_training = ScriptedExecutor(long), 60.0
    trainer.charge(60.0 - trainer.usage.cpu_seconds)
    found = Guided().search(given.context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001, program),))
    assert given.context.fewer_data is can_be_cut
    assert any(look.share < 1 for look in given.context.evaluations) is can_be_cut
    assert trainer.usage.spent <= 20


def test_with_a_small_budget_the_smaller_of_nearly_equal_changes_comes_first() -> None:
    """Larger batches give a hundredth more than the right learning rate alone; one more seed
    can be paid.
    """

    def batches_hardly_matter(values: Values) -> float:
        right = rate_decides(values)
        return right + (0.01 if right > 0.5 and values[Kind.BATCH_SIZE] == 64 else 0.0)

    rate, batch = (
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.9),
        Suspicion(Kind.BATCH_SIZE, 64, 0.5, FaultType.HBS),
    )
    given = search_context(batches_hardly_matter, rate, batch, budget="9x")
    found = Guided().search(given.context)
    assert given.context.best is not None
    assert given.context.best.patch.complexity == 2
    assert {look.seeds for look in given.context.evaluations} == {1, 2}
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))


@pytest.mark.parametrize("budget", ["9x", "12x", "20x"])
@pytest.mark.parametrize("helps", [True, False])
def test_what_only_the_first_seed_favours_is_not_offered(budget: str, helps: bool) -> None:
    """Every other batch size is lucky once; the right learning rate helps a little less, but
    always.
    """
    rate, batch = (
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.6),
        Suspicion(Kind.BATCH_SIZE, 64, 0.9, FaultType.HBS),
    )
    given = search_context(
        lambda values: 0.3 + 0.5 * helps * (rate_decides(values) > 0.5),
        rate,
        batch,
        budget=budget,
    )
    plain, first = given.executor, given.context.seeds[0]

    def lucky(trial: Trial) -> Outcome:
        (outcome,) = plain.run([trial])
        if trial.seed == first and any("batch" in str(change) for change in trial.patch.changes):
            return replace(outcome, metrics={"test_accuracy": 0.95})
        return outcome

    given.context.trainer.executor = ScriptedExecutor(lucky)
    found = Guided().search(given.context)
    assert all(any("learning-rate" in str(change) for change in patch.changes) for patch in found)
    assert given.context.trainer.usage.spent <= float(budget.removesuffix("x"))
    assert helps or not found


def test_one_more_seed_does_not_say_which_helps_most() -> None:
    """The right learning rate is all that helps; without a larger batch the second seed is an
    unlucky one.
    """
    rate, batch = (
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.9),
        Suspicion(Kind.BATCH_SIZE, 64, 0.5, FaultType.HBS),
    )
    given = search_context(rate_decides, rate, batch, budget="9x")
    plain, first = given.executor, given.context.seeds[0]

    def unlucky(trial: Trial) -> Outcome:
        (outcome,) = plain.run([trial])
        alone = len(trial.patch.changes) == 1 and trial.seed != first
        return replace(outcome, metrics={"test_accuracy": 0.7}) if alone else outcome

    given.context.trainer.executor = ScriptedExecutor(unlucky)
    found = Guided().search(given.context)
    assert {look.seeds for look in given.context.evaluations} == {1, 2}
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))


def test_where_the_first_seed_tells_nothing_apart_the_next_one_is_looked_at() -> None:
    given = search_context(rate_decides, Suspicion(Kind.LEARNING_RATE, 0.001, 0.9), lucky=0.9)
    first = given.context.seeds[0]
    found = Guided().search(given.context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))
    assert given.context.seeds[0] != first
    assert given.context.trainer.usage.spent <= 20


def test_what_trains_four_times_as_long_for_little_more_does_not_come_first() -> None:
    def either(values: Values) -> float:
        epochs = values[Kind.EPOCHS]
        assert isinstance(epochs, int)
        return max(0.92 if epochs >= 48 else 0.3, rate_decides(values) - 0.02)

    epochs, rate = (
        Suspicion(Kind.EPOCHS, 48, 0.9, FaultType.HNE),
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.6),
    )
    found = Guided().search(search_context(either, epochs, rate).context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))


def test_longer_training_comes_last_and_alone() -> None:
    """Each of the learning rate and more epochs helps; the learning rate does, and epochs stay."""

    def formula(values: Values) -> float:
        epochs = values[Kind.EPOCHS]
        assert isinstance(epochs, int)
        return min(0.97, rate_decides(values) + (0.02 if epochs > 12 else 0.0))

    given = search_context(
        formula,
        Suspicion(Kind.LEARNING_RATE, 0.001, 0.8),
        Suspicion(Kind.EPOCHS, 24, 0.95, FaultType.HNE),
    )
    found = Guided().search(given.context)
    assert found[0] == Patch((set_to(Kind.LEARNING_RATE, 0.001),))
    looked = [str(look.patch) for look in given.context.evaluations if look.share == 1]
    longer = [at for at, patch in enumerate(looked) if "epochs" in patch]
    rates = [at for at, patch in enumerate(looked) if "learning-rate = 0.001" in patch]
    assert not longer or min(longer) > min(rates)


def test_longer_training_is_found_where_nothing_else_helps() -> None:
    def formula(values: Values) -> float:
        epochs = values[Kind.EPOCHS]
        assert isinstance(epochs, int)
        return 0.9 if epochs >= 24 else 0.4

    found = Guided().search(search_context(formula, budget="40x").context)
    assert [change.hyperparameter.kind for change in found[0].changes] == [Kind.EPOCHS]
