"""Interventions judged with an executor whose trainings follow a formula: what counts is the reasoning."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from reenact.diagnosis.candidates import Screening
from reenact.diagnosis.diagnosis import DiagnosisFinding, InterventionResult
from reenact.diagnosis.intervene import intervene
from reenact.diagnosis.options import InterventionPlan
from reenact.diagnosis.suspects import Suspect, suspects_from
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.fault import Fault
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program, program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.rules.finding import Certainty, Finding, Severity, Suggestion
from reenact.rules.rule import suggest
from reenact.trials.budget import TrainingBudget
from reenact.trials.executor import OnOutcome
from reenact.trials.metric import LOSS_FALL, Measure
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Trial
from reenact.types import Stop, tell_nobody

SOURCE = """import keras
from keras.layers import Dense
model = keras.Sequential([Dense(8, activation="relu"), Dense(1)])
model.compile(loss="mse", optimizer=keras.optimizers.SGD(learning_rate=0.5), metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=4)
"""
PROGRAM = program_from_text(SOURCE)
PLAN = InterventionPlan(screened=7, seeds=6)
VALUES = {
    Kind.LEARNING_RATE: (Fault.HLR, 0.001),
    Kind.OPTIMIZER: (Fault.OCH, "Adam"),
    Kind.EPOCHS: (Fault.HNE, 8),
    Kind.LOSS: (Fault.LCH, "binary_crossentropy"),
    Kind.ACTIVATION: (Fault.ACH, "tanh"),
}

Formula = Callable[[frozenset[Kind], int], float | None]


class Formulaic:
    """An executor: the accuracy of a training is a function of which hyperparameters were turned, and the
    seed."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.done: list[Trial] = []

    def run(
        self, trials: Sequence[Trial], *, on: OnOutcome | None = None, stop: Stop | None = None
    ) -> list[Outcome]:
        self.done += trials
        outcomes = [self._one(trial) for trial in trials]
        for trial, outcome in zip(trials, outcomes, strict=True):
            if on is not None:
                on(trial, outcome)
        return outcomes

    def _one(self, trial: Trial) -> Outcome:
        turned = frozenset(change.hyperparameter.kind for change in trial.patch.changes)  # type: ignore[union-attr]
        value = self.formula(turned, trial.seed)
        if value is None:
            return Outcome(OutcomeKind.CRASHED, cpu_seconds=1.0)
        return Outcome(OutcomeKind.FINISHED, steps=9, metrics={"test_accuracy": value}, cpu_seconds=1.0)

    def close(self) -> None:
        pass


def suspects(severity: Severity = Severity.WARNING, **confidences: float) -> tuple[Suspect, ...]:
    found = []
    for name, confidence in confidences.items():
        kind = Kind[name.upper()]
        fault, value = VALUES[kind]
        param = next(param for param in hyperparameters_of(PROGRAM) if param.kind is kind)
        suggestions: tuple[Suggestion, ...] = tuple(suggest(param, (value,)))
        found.append(
            Finding(
                f"RE{len(found):03}",
                name,
                "reenact",
                fault,
                severity,
                "saw",
                "why",
                confidence,
                hyperparameter=param.id,
                suggestions=suggestions,
            )
        )
    return suspects_from(found)


class Late(Stop):
    """Its time is up as soon as a test says so."""

    up = False

    def remaining(self) -> float | None:
        return 0.0 if self.up else 60.0


def interventions_on(
    formula: Formula,
    measure: Measure | None = None,
    trainings: float = 40,
    stop: Stop | None = None,
    **confidences: float,
) -> tuple[dict[str, DiagnosisFinding], Formulaic]:
    executor = Formulaic(formula)
    with Journal.in_memory() as journal, journal.run(pipeline="test", request={}, what="test") as run:
        trainer = BudgetedTrainer(
            PROGRAM, executor, measure or Measure("test_accuracy"), TrainingBudget(trainings), 1.0, 1.0,
            run.under("trials"), stop or Stop(),
        )  # fmt: skip
        judged, _ = intervene(suspects(**confidences), Screening(trainer, PLAN, tell_nobody), threshold=0.45)
        run.finish({})
    return {one.suspect.first.name: one for one in judged}, executor


def noise(seed: int) -> float:
    return random.Random(seed).uniform(-0.01, 0.01)


def test_the_change_that_helps_is_confirmed_and_the_others_are_refuted() -> None:
    judged, executor = interventions_on(
        lambda turned, seed: (0.9 if Kind.LEARNING_RATE in turned else 0.5) + noise(seed),
        learning_rate=0.6, optimizer=0.8, epochs=0.3,
    )  # fmt: skip
    # What would not be reported anyway is not worth the trainings that refute it.
    assert {name: one.status for name, one in judged.items()} == {
        "learning_rate": InterventionResult.CONFIRMED,
        "optimizer": InterventionResult.REFUTED,
        "epochs": InterventionResult.UNDECIDED,
    }
    tried = judged["learning_rate"].tried
    assert tried is not None
    assert len(tried.before) == len(tried.after) == 6
    assert tried.p_value == pytest.approx(1 / 64)
    assert judged["optimizer"].confidence < 0.45
    refuted = judged["optimizer"].tried
    assert refuted is not None
    assert len(refuted.before) == len(refuted.after) == 4
    assert "learning-rate" in refuted.on_top_of
    seeds = {trial.seed for trial in executor.done if not trial.patch.changes}
    assert len(seeds) == 7


def test_what_helped_is_kept_when_the_time_is_up_before_it_is_verified() -> None:
    stop = Late(60.0)

    def formula(turned: frozenset[Kind], seed: int) -> float:
        # Seeds from 101 on verify.
        stop.up = seed > 100
        return (0.9 if Kind.LEARNING_RATE in turned else 0.5) + noise(seed)

    judged, executor = interventions_on(formula, stop=stop, learning_rate=0.6, optimizer=0.8)
    assert judged["learning_rate"].status is InterventionResult.UNDECIDED
    assert judged["optimizer"].status is InterventionResult.UNDECIDED
    assert any(trial.seed > 100 for trial in executor.done)


def test_two_faults_that_only_help_together_are_both_confirmed_and_a_third_is_not() -> None:
    needed = {Kind.LEARNING_RATE, Kind.LOSS}
    judged, _ = interventions_on(
        lambda turned, seed: (0.9 if needed <= turned else 0.5) + noise(seed),
        learning_rate=0.7, loss=0.8, optimizer=0.6,
    )  # fmt: skip
    assert judged["learning_rate"].status is InterventionResult.CONFIRMED
    assert judged["loss"].status is InterventionResult.CONFIRMED
    assert judged["optimizer"].status is not InterventionResult.CONFIRMED


def test_known_interactions_are_changed_as_one_where_the_change_of_everything_fails() -> None:
    """Activation and loss help only together, and a third suspect spoils whatever it is changed with."""

    def formula(turned: frozenset[Kind], seed: int) -> float:
        if Kind.OPTIMIZER in turned:
            return 0.1
        return (0.9 if {Kind.ACTIVATION, Kind.LOSS} <= turned else 0.5) + 0.001 * (seed % 7)

    results, executor = interventions_on(formula, activation=0.8, loss=0.8, optimizer=0.8)
    assert results["activation"].status is InterventionResult.CONFIRMED
    assert results["loss"].status is InterventionResult.CONFIRMED
    assert results["optimizer"].status is not InterventionResult.CONFIRMED
    tried = [{change.hyperparameter.kind for change in one.patch.changes} for one in executor.done]
    assert {Kind.ACTIVATION, Kind.LOSS} in tried


def test_a_second_change_on_top_of_the_first_is_found() -> None:
    gains = {Kind.LEARNING_RATE: 0.2, Kind.LOSS: 0.15}
    judged, _ = interventions_on(
        lambda turned, seed: 0.5 + sum(gains.get(kind, 0) for kind in turned) + noise(seed),
        learning_rate=0.7, loss=0.6,
    )  # fmt: skip
    assert [judged[name].status for name in ("learning_rate", "loss")] == [InterventionResult.CONFIRMED] * 2


def test_nothing_is_confirmed_where_nothing_helps() -> None:
    judged, executor = interventions_on(
        lambda turned, seed: 0.8 + noise(seed), learning_rate=0.9, optimizer=0.7, epochs=0.6
    )
    assert all(one.status is InterventionResult.REFUTED for one in judged.values())
    assert all(one.confidence < 0.45 for one in judged.values())
    assert len(executor.done) <= 21


def test_luck_on_the_screening_seed_does_not_confirm() -> None:
    judged, _ = interventions_on(
        lambda turned, seed: 0.9 if turned and seed < 100 else 0.5 + noise(seed * 7 + len(turned)),
        learning_rate=0.6,
    )
    assert judged["learning_rate"].status is not InterventionResult.CONFIRMED


def test_a_program_that_crashes_as_it_stands_is_fixed_by_a_change_that_trains() -> None:
    judged, _ = interventions_on(
        lambda turned, seed: 0.7 + noise(seed) if Kind.LOSS in turned else None, loss=0.6, learning_rate=0.6
    )
    assert judged["loss"].status is InterventionResult.CONFIRMED


def test_a_loss_does_not_judge_a_change_of_the_loss() -> None:
    judged, executor = interventions_on(
        lambda turned, seed: 0.5, Measure("test_accuracy", larger_is_better=False, is_loss=True), loss=0.9
    )
    assert judged["loss"].status is InterventionResult.UNTRIED
    assert not [trial for trial in executor.done if trial.patch.changes]


def test_the_budget_limits_what_is_tried() -> None:
    _, executor = interventions_on(
        lambda turned, seed: 0.5 + noise(seed), trainings=3,
        learning_rate=0.9, optimizer=0.8, epochs=0.7, loss=0.6,
    )  # fmt: skip
    assert len(executor.done) <= 3


def test_a_slight_suspect_whose_change_helps_only_a_little_is_tuning_and_a_strong_one_is_not() -> None:
    def helps(gain: float) -> Formula:
        return lambda turned, seed: 0.6 + gain * (Kind.EPOCHS in turned) + noise(seed)

    slight, _ = interventions_on(helps(0.08), epochs=0.4)
    much, _ = interventions_on(helps(0.2), epochs=0.4)
    strong, _ = interventions_on(helps(0.08), epochs=0.6)
    assert [found["epochs"].status for found in (slight, much, strong)] == [InterventionResult.CONFIRMED] * 3
    assert slight["epochs"].confidence < 0.5
    assert "not much" in slight["epochs"].note
    assert min(much["epochs"].confidence, strong["epochs"].confidence) >= 0.9


def test_a_training_that_does_well_is_no_finding_on_a_slight_suspicion() -> None:
    judged, _ = interventions_on(
        lambda turned, seed: (0.99 if Kind.EPOCHS in turned else 0.955) + noise(seed) / 4, epochs=0.4
    )
    assert judged["epochs"].confidence < 0.5
    assert "does well" in judged["epochs"].note


def test_what_helps_only_on_top_of_the_cause_stays_a_finding() -> None:
    def accuracy(turned: frozenset[Kind], seed: int) -> float:
        if Kind.LOSS not in turned:
            return 0.1 + noise(seed)
        return 0.8 + 0.05 * (Kind.LEARNING_RATE in turned) + noise(seed) / 10

    judged, _ = interventions_on(accuracy, loss=0.8, learning_rate=0.7, optimizer=0.6)
    assert judged["loss"].status is InterventionResult.CONFIRMED
    assert judged["learning_rate"].status is InterventionResult.UNDECIDED
    assert "as well" in judged["learning_rate"].note
    assert judged["optimizer"].status is InterventionResult.REFUTED


def test_what_noise_could_hide_is_undecided_and_believed_as_before() -> None:
    judged, _ = interventions_on(
        lambda turned, seed: (
            0.5 + 0.3 * random.Random(f"{seed}{sorted(turned)}").uniform(-1, 1) * (seed > 100)
        ),
        learning_rate=0.9,
    )
    rate = judged["learning_rate"]
    assert rate.status is InterventionResult.UNDECIDED
    assert rate.confidence >= 0.45
    assert rate.tried is not None


def test_nothing_is_refuted_where_the_program_only_guesses() -> None:
    def judged_beside(majority: float) -> InterventionResult:
        executor = Formulaic(lambda turned, seed: 0.5 + noise(seed) / 10)
        with Journal.in_memory() as journal, journal.run(pipeline="test", request={}, what="test") as run:
            trainer = BudgetedTrainer(
                PROGRAM, executor, Measure("test_accuracy"), TrainingBudget(40), 1.0, 1.0,
                run.under("trials"), Stop(), majority=majority,
            )  # fmt: skip
            screening = Screening(trainer, PLAN, tell_nobody)
            (one,), _ = intervene(suspects(learning_rate=0.8), screening, threshold=0.45)
            run.finish({})
        return one.status

    assert judged_beside(0.5) is InterventionResult.UNDECIDED
    assert judged_beside(0.2) is InterventionResult.REFUTED


def test_proof_stands_whatever_the_trials_show() -> None:
    everything = suspects(loss=0.9, learning_rate=0.9)
    proven = replace(everything[0].first, certainty=Certainty.PROOF)
    everything = (*suspects_from([proven]), everything[1])
    executor = Formulaic(lambda turned, seed: 0.8 + noise(seed))
    with Journal.in_memory() as journal, journal.run(pipeline="test", request={}, what="test") as run:
        trainer = BudgetedTrainer(
            PROGRAM, executor, Measure("test_accuracy"), TrainingBudget(40), 1.0, 1.0,
            run.under("trials"), Stop(),
        )  # fmt: skip
        judged, _ = intervene(everything, Screening(trainer, PLAN, tell_nobody), threshold=0.45)
        run.finish({})
    by_name = {one.suspect.first.name: one for one in judged}
    assert by_name[proven.name].status is InterventionResult.UNDECIDED
    assert by_name[proven.name].confidence >= 0.95
    other = next(one for name, one in by_name.items() if name != proven.name)
    assert other.status is InterventionResult.REFUTED


def test_where_nothing_is_learned_the_fall_of_the_loss_judges() -> None:
    needed = {Kind.LEARNING_RATE, Kind.LOSS}

    class Stuck(Formulaic):
        def _one(self, trial: Trial) -> Outcome:
            outcome = super()._one(trial)
            turned = {change.hyperparameter.kind for change in trial.patch.changes}  # type: ignore[union-attr]
            fall = 0.6 + noise(trial.seed) if needed <= turned else 0.01
            return replace(outcome, metrics={**outcome.metrics, LOSS_FALL: fall})

    executor = Stuck(lambda turned, seed: 0.5)
    with Journal.in_memory() as journal, journal.run(pipeline="test", request={}, what="test") as run:
        trainer = BudgetedTrainer(
            PROGRAM, executor, Measure("test_accuracy"), TrainingBudget(40), 1.0, 1.0,
            run.under("trials"), Stop(),
        )  # fmt: skip
        judged, _ = intervene(
            suspects(learning_rate=0.7, loss=0.8), Screening(trainer, PLAN, tell_nobody), threshold=0.45
        )
        run.finish({})
    assert [one.status for one in judged] == [InterventionResult.CONFIRMED] * 2
    assert judged[0].tried is not None
    assert judged[0].tried.measure.name == LOSS_FALL


def test_nothing_is_refuted_beside_a_proven_fault_that_could_not_be_changed() -> None:
    proven = Finding(
        "RE900", "labels", "reenact", Fault.CPP, Severity.ERROR, "labels are no classes", "why", 0.95,
        certainty=Certainty.PROOF,
    )  # fmt: skip
    everything = (*suspects(learning_rate=0.8), *suspects_from([proven]))
    executor = Formulaic(lambda turned, seed: 0.1 + noise(seed))
    with Journal.in_memory() as journal, journal.run(pipeline="test", request={}, what="test") as run:
        trainer = BudgetedTrainer(
            PROGRAM, executor, Measure("test_accuracy"), TrainingBudget(40), 1.0, 1.0,
            run.under("trials"), Stop(),
        )  # fmt: skip
        judged, _ = intervene(everything, Screening(trainer, PLAN, tell_nobody), threshold=0.45)
        run.finish({})
    rate = next(one for one in judged if one.suspect.first.name == "learning_rate")
    assert rate.status is InterventionResult.UNDECIDED
    assert rate.confidence >= 0.45


def test_programs_of_the_tests_have_the_hyperparameters() -> None:
    assert isinstance(PROGRAM, Program)
    assert {Kind.LEARNING_RATE, Kind.OPTIMIZER, Kind.EPOCHS, Kind.LOSS} <= {
        k.kind for k in hyperparameters_of(PROGRAM)
    }
