"""The account of a trainer, on trainings that follow a formula."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from reenact.errors import Inconclusive
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.testing.strategy import PROGRAM, rate_decides, search_context, set_to
from reenact.trials.bounds import MetricBounds
from reenact.trials.budget import TrainingBudget
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.metric import Measure
from reenact.trials.trainer import BudgetedTrainer, material
from reenact.trials.trial import Outcome, Part, Trial
from reenact.types import Stop

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
    ("budget", "cost", "fits"),
    [("5x", 4.0, True), ("2x", 4.0, False), ("3t", 2.0, True)],
)
def test_the_budget_decides_what_trainings_cost(budget: str, cost: float, fits: bool) -> None:
    trainer = search_context(rate_decides, budget=budget).context.trainer
    assert trainer.cost(LONGER, 2) == cost
    assert trainer.within_budget(cost) is fits


def test_what_others_spent_is_charged() -> None:
    trainer = search_context(rate_decides, budget="20x").context.trainer
    trainer.charge(2.5)
    assert trainer.balance == (3.5, 20.0)


def killed_first(executor: ScriptedExecutor, times: int) -> None:
    """What a machine does that has too little memory: it kills the first trainings of each
    program.
    """
    seen: dict[str, int] = {}
    play = executor.play

    def killing(trial: Trial) -> Outcome:
        seen[trial.content] = seen.get(trial.content, 0) + 1
        return (
            play(trial)
            if seen[trial.content] > times
            else Outcome(OutcomeKind.KILLED, note="signal 9")
        )

    executor.play = killing


def test_a_training_that_was_killed_from_outside_is_done_again_and_no_evidence() -> None:
    given = search_context(rate_decides)
    killed_first(given.executor, 2)
    before = len(given.executor.ran)

    assert given.context.trainer.samples([LONGER], [1])[0][0] > -math.inf
    assert len(given.executor.ran) == before + 3


def test_a_changed_program_that_is_always_killed_has_failed() -> None:
    given = search_context(rate_decides)
    killed_first(given.executor, 9)

    assert given.context.trainer.samples([LONGER], [1]) == [(-math.inf,)]


def test_without_an_outcome_of_the_program_itself_there_is_nothing_to_compare_with() -> None:
    given = search_context(rate_decides)
    killed_first(given.executor, 9)

    with pytest.raises(Inconclusive, match=r"killed from outside 3 times in a row \(signal 9\)"):
        given.context.trainer.samples([Patch(())], [1])


def test_every_trial_is_given_to_the_executor_at_once() -> None:
    given = search_context(rate_decides, budget="90t")
    asked: list[int] = []
    run = given.executor.run

    def counting(trials: Sequence[Trial], **more: Any) -> list[Outcome]:
        asked.append(len(trials))
        return run(trials, **more)

    given.executor.run = counting  # type: ignore[method-assign]
    given.context.trainer.samples([LONGER], range(20))

    assert asked == [20]


def test_what_goes_wrong_in_an_executor_is_raised() -> None:
    given = search_context(rate_decides)

    def broken(trial: Trial) -> Outcome:
        raise RuntimeError("no place left")

    given.executor.play = broken
    with pytest.raises(RuntimeError, match="no place left"):
        given.context.trainer.samples([LONGER], [1])


def test_a_repeated_training_is_done_again() -> None:
    given = search_context(rate_decides)
    trainer = given.context.trainer
    first = trainer.trial(Patch(()), trainer.seeds[0])
    trainer.outcomes([first, replace(first, repeat=1)])
    trainer.outcomes([first, replace(first, repeat=1)])
    assert [trial.repeat for trial in given.executor.ran] == [0, 1]


def with_curves(trial: Trial) -> Outcome:
    """The unchanged program learns; a change does not, and a trial that may be pruned is."""
    values = [0.1 if trial.patch else min(0.8, 0.1 * number) for number in range(1, 11)]
    curve = tuple((10 * number, value) for number, value in enumerate(values, start=1))
    pruned = trial.baseline is not None
    return Outcome(
        OutcomeKind.STOPPED if pruned else OutcomeKind.FINISHED,
        steps=40 if pruned else 100,
        epochs=10,
        metrics={"test_accuracy": values[-1]},
        sources={"test_accuracy": "keras"},
        curves={"test_accuracy": curve},
        cpu_seconds=1.0,
        stopped="hopeless beside it" if pruned else "",
    )


def test_a_trainer_that_prunes_compares_with_the_first_curves_of_the_program_as_it_stands() -> None:
    given = search_context(rate_decides, budget="20x")
    given.executor.play = with_curves
    trainer = given.context.trainer
    assert not trainer.prunes
    trainer.prunes = True
    trainer.seeds = trainer.seeds[1:]
    trainer.scores([Patch(())])
    assert trainer.pruning_note == ""
    rate = Patch((set_to(Kind.LEARNING_RATE, 0.5),))
    assert trainer.scores([rate, LONGER]) == [0.1, 0.1]
    ran = {str(trial.patch): trial for trial in given.executor.ran}
    base = ran[str(rate)].baseline
    assert base is not None
    longer = ran[str(LONGER)].baseline
    assert longer is not None
    assert longer.steps > base.steps == 100
    assert trainer.pruning_note.startswith(
        "Pruned as hopeless compared with the unchanged program: 2 of "
    )
    assert trainer.samples([rate], (7,)) == [(0.1,)]
    assert given.executor.ran[-1].baseline is None, "what judges is trained to its end"
    trainer.judge_by(trainer.measure)
    assert trainer.pruned(Trial(trainer.program, rate)).baseline is None, (
        "another metric, other curves"
    )


@pytest.mark.parametrize("seeds", [2, 3, 5])
def test_what_most_seeds_show_to_be_no_better_is_not_trained_on_the_others(
    seeds: int,
) -> None:
    given = search_context(rate_decides, noise=0.2).context.trainer
    patches = [Patch((set_to(Kind.BATCH_SIZE, size),)) for size in range(16, 64)]
    patches += [Patch((set_to(Kind.LEARNING_RATE, 0.01),))]
    base = 0.3
    short, whole = given.apart(), given.apart()
    early, late = (
        short.scores(patches, seeds, against=base),
        whole.scores(patches, seeds),
    )
    helps = [given.improves(base, score) for score in late]
    assert [given.improves(base, score) for score in early] == helps
    assert [score for score, good in zip(early, helps, strict=True) if good] == [
        score for score, good in zip(late, helps, strict=True) if good
    ]
    assert 1 < sum(helps) < len(patches)
    assert (short.usage.trainings < whole.usage.trainings) is (seeds > 2)
    assert whole.usage.trainings == seeds * len(patches)


@pytest.mark.parametrize(
    ("measure", "spread", "score", "well"),
    [
        (Measure("test_accuracy"), None, 0.96, True),
        (Measure("test_accuracy"), None, 0.9, False),
        (Measure("test_r2"), None, 0.96, False),
        (Measure("test_mae", larger_is_better=False), 1.5, -0.12, True),
        (Measure("test_mae", larger_is_better=False), 1.5, -0.2, False),
        (Measure("test_mse", larger_is_better=False), 1.5, -0.02, True),
        (Measure("test_mse", larger_is_better=False), 1.5, -0.12, False),
        (Measure("test_mae", larger_is_better=False), None, -0.0001, False),
        (
            Measure("test_loss", larger_is_better=False, is_loss=True),
            1.5,
            -0.0001,
            False,
        ),
        (Measure("test_accuracy"), None, float("-inf"), False),
    ],
)
def test_when_a_training_does_well(
    measure: Measure, spread: float | None, score: float, well: bool
) -> None:
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        trainer = BudgetedTrainer(
            PROGRAM,
            ScriptedExecutor(with_curves),
            measure,
            TrainingBudget(40),
            1.0,
            1.0,
            run.under("trials"),
            Stop(),
            label_spread=spread,
        )
        assert trainer.is_good_enough(score) is well
        run.finish({})


@pytest.mark.parametrize(
    ("before", "after", "bounded", "large"),
    [
        (0.5, 0.52, True, False),
        (0.5, 0.53, True, True),
        (0.99, 0.995, True, False),
        (-10.0, -9.8, False, False),
        (-10.0, -9.0, False, True),
        (float("-inf"), 0.1, True, True),
        (0.5, float("-inf"), True, False),
    ],
)
def test_what_is_large_enough_to_matter(
    before: float, after: float, bounded: bool, large: bool
) -> None:
    assert material(before, after, bounded=bounded) is large


def test_bounds_are_what_is_known_of_the_metrics() -> None:
    trainer = search_context(rate_decides).context.trainer
    known = replace(trainer, majority=0.4, label_spread=2.0, loss_floor=0.0, constant_loss=0.7)
    assert known.bounds == MetricBounds(0.0, 0.7, 0.4, 2.0)
    assert replace(known, several_labels=True).bounds == MetricBounds(0.0, 0.7, None, 2.0)
