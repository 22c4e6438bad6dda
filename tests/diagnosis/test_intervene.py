"""Interventions judged with an executor whose trainings follow a formula: what counts is the
reasoning.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import pytest

from reenact.diagnosis.candidates import Screening
from reenact.diagnosis.grouping import grouped
from reenact.diagnosis.intervene import intervene
from reenact.diagnosis.options import InterventionPlan
from reenact.errors import TimeSpent
from reenact.faults.detector import suggest
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Certainty, Observation, Observes, Severity, Suggestion
from reenact.faults.tried import InterventionResult
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program, program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.budget import TrainingBudget
from reenact.trials.executor import OnOutcome
from reenact.trials.metric import LOSS_FALL, Measure
from reenact.trials.statistics import detectable_gain
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Outcome, Trial
from reenact.types import Progress, Stop, Tell, tell_nobody

SOURCE = """import keras
from keras.layers import Dense
model = keras.Sequential([Dense(8, activation="relu"), Dense(1)])
model.compile(loss="mse", optimizer=keras.optimizers.SGD(learning_rate=0.5), metrics=["accuracy"])
model.fit(x, y, batch_size=32, epochs=4)
"""
PROGRAM = program_from_text(SOURCE)
PLAN = InterventionPlan(screened=7, seeds=6)
VALUES = {
    Kind.LEARNING_RATE: (FaultType.HLR, 0.001),
    Kind.OPTIMIZER: (FaultType.OCH, "Adam"),
    Kind.EPOCHS: (FaultType.HNE, 8),
    Kind.LOSS: (FaultType.LCH, "binary_crossentropy"),
    Kind.ACTIVATION: (FaultType.ACH, "tanh"),
}

Formula = Callable[[frozenset[Kind], int], float | None]


class Formulaic:
    """An executor: the accuracy of a training is a function of which hyperparameters were turned,
    and the seed.
    """

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.done: list[Trial] = []

    def run(
        self,
        trials: Sequence[Trial],
        *,
        on: OnOutcome | None = None,
        stop: Stop | None = None,
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
        return Outcome(
            OutcomeKind.FINISHED,
            steps=9,
            metrics={"test_accuracy": value},
            cpu_seconds=1.0,
        )

    def close(self) -> None:
        pass


def suspects(
    severity: Severity = Severity.WARNING,
    observed: Mapping[str, Observes] | None = None,
    **confidences: float,
) -> tuple[Finding, ...]:
    found = []
    for name, confidence in confidences.items():
        kind = Kind[name.upper()]
        fault, value = VALUES[kind]
        param = next(param for param in hyperparameters_of(PROGRAM) if param.kind is kind)
        suggestions: tuple[Suggestion, ...] = tuple(suggest(param, (value,)))
        found.append(
            Observation(
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
                observes=(observed or {}).get(name, Observes.TEXT),
            )
        )
    return grouped(map(finding_of, found))


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
    observed: Mapping[str, Observes] | None = None,
    **confidences: float,
) -> tuple[dict[str, Finding], Formulaic]:
    executor = Formulaic(formula)
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        trainer = BudgetedTrainer(
            PROGRAM,
            executor,
            measure or Measure("test_accuracy"),
            TrainingBudget(trainings),
            1.0,
            1.0,
            run.under("trials"),
            stop or Stop(),
        )
        judged, _ = intervene(
            suspects(observed=observed, **confidences),
            Screening(trainer, PLAN, tell_nobody),
            threshold=0.45,
        )
        run.finish({})
    return {one.first.name: one for one in judged}, executor


def noise(seed: int) -> float:
    return random.Random(seed).uniform(-0.01, 0.01)


def test_the_change_that_helps_is_confirmed_and_the_others_are_refuted() -> None:
    judged, executor = interventions_on(
        lambda turned, seed: (0.9 if Kind.LEARNING_RATE in turned else 0.5) + noise(seed),
        learning_rate=0.6,
        optimizer=0.8,
        epochs=0.3,
    )
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


def test_no_training_is_spent_on_refuting_an_opinion() -> None:
    def formula(turned: frozenset[Kind], seed: int) -> float:
        return (0.9 if Kind.LEARNING_RATE in turned else 0.5) + noise(seed)

    observed = {"learning_rate": Observes.TEXT, "optimizer": Observes.OPINION}
    judged, _ = interventions_on(formula, observed=observed, learning_rate=0.6, optimizer=0.8)
    assert judged["learning_rate"].status is InterventionResult.CONFIRMED
    assert judged["optimizer"].status is InterventionResult.UNDECIDED
    assert judged["optimizer"].is_opinion


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
        learning_rate=0.7,
        loss=0.8,
        optimizer=0.6,
    )
    assert judged["learning_rate"].status is InterventionResult.CONFIRMED
    assert judged["loss"].status is InterventionResult.CONFIRMED
    assert judged["optimizer"].status is not InterventionResult.CONFIRMED


def test_known_interactions_are_changed_as_one_where_the_change_of_everything_fails() -> None:
    """Activation and loss help only together, and a third suspect spoils whatever it is changed
    with.
    """

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
        learning_rate=0.7,
        loss=0.6,
    )
    assert [judged[name].status for name in ("learning_rate", "loss")] == [
        InterventionResult.CONFIRMED
    ] * 2


def test_nothing_is_confirmed_where_nothing_helps() -> None:
    judged, executor = interventions_on(
        lambda turned, seed: 0.8 + noise(seed),
        learning_rate=0.9,
        optimizer=0.7,
        epochs=0.6,
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


def test_a_loss_does_not_judge_a_change_of_the_loss() -> None:
    judged, executor = interventions_on(
        lambda turned, seed: 0.5,
        Measure("test_accuracy", larger_is_better=False, is_loss=True),
        loss=0.9,
    )
    assert judged["loss"].status is InterventionResult.UNTRIED
    assert not [trial for trial in executor.done if trial.patch.changes]


def test_the_budget_limits_what_is_tried() -> None:
    _, executor = interventions_on(
        lambda turned, seed: 0.5 + noise(seed),
        trainings=3,
        learning_rate=0.9,
        optimizer=0.8,
        epochs=0.7,
        loss=0.6,
    )
    assert len(executor.done) <= 3


def test_a_slight_suspect_whose_change_helps_only_a_little_is_tuning_and_a_strong_one_is_not() -> (
    None
):
    def helps(gain: float) -> Formula:
        return lambda turned, seed: 0.6 + gain * (Kind.EPOCHS in turned) + noise(seed)

    slight, _ = interventions_on(helps(0.08), epochs=0.4)
    much, _ = interventions_on(helps(0.2), epochs=0.4)
    strong, _ = interventions_on(helps(0.08), epochs=0.6)
    assert [found["epochs"].status for found in (slight, much, strong)] == [
        InterventionResult.CONFIRMED
    ] * 3
    assert slight["epochs"].confidence < 0.5
    assert "not much" in slight["epochs"].note
    assert min(much["epochs"].confidence, strong["epochs"].confidence) >= 0.9


def test_a_training_that_does_well_is_no_finding_on_a_slight_suspicion() -> None:
    judged, _ = interventions_on(
        lambda turned, seed: (0.99 if Kind.EPOCHS in turned else 0.955) + noise(seed) / 4,
        epochs=0.4,
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
        with (
            Journal.in_memory() as journal,
            journal.run(pipeline="test", request={}, what="test") as run,
        ):
            trainer = BudgetedTrainer(
                PROGRAM,
                executor,
                Measure("test_accuracy"),
                TrainingBudget(40),
                1.0,
                1.0,
                run.under("trials"),
                Stop(),
                majority=majority,
            )
            screening = Screening(trainer, PLAN, tell_nobody)
            (one,), _ = intervene(suspects(learning_rate=0.8), screening, threshold=0.45)
            run.finish({})
        return one.status

    assert judged_beside(0.5) is InterventionResult.UNDECIDED
    assert judged_beside(0.2) is InterventionResult.REFUTED


def test_proof_stands_whatever_the_trials_show() -> None:
    everything = suspects(loss=0.9, learning_rate=0.9)
    proven = everything[0].refined(certainty=Certainty.PROOF)
    everything = (*grouped([proven]), everything[1])
    executor = Formulaic(lambda turned, seed: 0.8 + noise(seed))
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        trainer = BudgetedTrainer(
            PROGRAM,
            executor,
            Measure("test_accuracy"),
            TrainingBudget(40),
            1.0,
            1.0,
            run.under("trials"),
            Stop(),
        )
        judged, _ = intervene(everything, Screening(trainer, PLAN, tell_nobody), threshold=0.45)
        run.finish({})
    by_name = {one.first.name: one for one in judged}
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
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        trainer = BudgetedTrainer(
            PROGRAM,
            executor,
            Measure("test_accuracy"),
            TrainingBudget(40),
            1.0,
            1.0,
            run.under("trials"),
            Stop(),
        )
        judged, _ = intervene(
            suspects(learning_rate=0.7, loss=0.8),
            Screening(trainer, PLAN, tell_nobody),
            threshold=0.45,
        )
        run.finish({})
    assert [one.status for one in judged] == [InterventionResult.CONFIRMED] * 2
    assert judged[0].tried is not None
    assert judged[0].tried.metric == LOSS_FALL


def test_nothing_is_refuted_beside_a_proven_fault_that_could_not_be_changed() -> None:
    proven = Observation(
        "RE900",
        "labels",
        "reenact",
        FaultType.CPP,
        Severity.ERROR,
        "labels are no classes",
        "why",
        0.95,
        certainty=Certainty.PROOF,
    )
    everything = (*suspects(learning_rate=0.8), *grouped([finding_of(proven)]))
    executor = Formulaic(lambda turned, seed: 0.1 + noise(seed))
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        trainer = BudgetedTrainer(
            PROGRAM,
            executor,
            Measure("test_accuracy"),
            TrainingBudget(40),
            1.0,
            1.0,
            run.under("trials"),
            Stop(),
        )
        judged, _ = intervene(everything, Screening(trainer, PLAN, tell_nobody), threshold=0.45)
        run.finish({})
    rate = next(one for one in judged if one.first.name == "learning_rate")
    assert rate.status is InterventionResult.UNDECIDED
    assert rate.confidence >= 0.45


@dataclass
class Tried:
    """What came of interventions, and what they left behind."""

    judged: dict[str, Finding]
    remarks: list[str]
    executor: Formulaic
    trainer: BudgetedTrainer

    def status(self, name: str) -> InterventionResult:
        return self.judged[name].status


class WithFall(Formulaic):
    """One whose training loss falls by a formula as well."""

    def __init__(self, formula: Formula, fall: Formula) -> None:
        super().__init__(formula)
        self.fall = fall

    def _one(self, trial: Trial) -> Outcome:
        outcome = super()._one(trial)
        turned = frozenset(change.hyperparameter.kind for change in trial.patch.changes)  # type: ignore[union-attr]
        fall = self.fall(turned, trial.seed)
        assert fall is not None
        return replace(outcome, metrics={**outcome.metrics, LOSS_FALL: fall})


def tried_on(
    executor: Formulaic,
    everything: Sequence[Finding],
    *,
    measure: Measure | None = None,
    trainings: float = 60,
    threshold: float = 0.45,
    plan: InterventionPlan = PLAN,
    stop: Stop | None = None,
    tell: Tell = tell_nobody,
    **known: float,
) -> Tried:
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}, what="test") as run,
    ):
        trainer = BudgetedTrainer(
            PROGRAM,
            executor,
            measure or Measure("test_accuracy"),
            TrainingBudget(trainings),
            1.0,
            1.0,
            run.under("trials"),
            stop or Stop(),
            **known,  # type: ignore[arg-type]
        )
        judged, remarks = intervene(everything, Screening(trainer, plan, tell), threshold=threshold)
        run.finish({})
    return Tried({one.first.name: one for one in judged}, remarks, executor, trainer)


def surely(certainty: Certainty, **confidences: float) -> tuple[Finding, ...]:
    """Suspects of another certainty than a hint."""
    return grouped([one.refined(certainty=certainty) for one in suspects(**confidences)])


def helped_by(kind: Kind, gain: float, base: float = 0.5) -> Formula:
    return lambda turned, seed: base + gain * (kind in turned) + noise(seed) / 100


def only_later(gain: float) -> Formula:
    """A gain on the seeds that judge, none on those that screen."""
    return lambda turned, seed: 0.5 + gain * (bool(turned) and seed > 100)


def test_one_metric_judges_and_is_not_chosen_by_the_seeds_that_judge() -> None:
    """The metric looks better on the screening seeds alone, the training loss falls everywhere: the
    metric was chosen, and the training loss has no second look at the same seeds.
    """
    lucky = WithFall(
        lambda turned, seed: 0.9 if turned and seed < 100 else 0.5 + noise(seed * 7 + len(turned)),
        lambda turned, seed: 0.6 if turned else 0.01,
    )
    tried = tried_on(lucky, suspects(learning_rate=0.6))
    assert tried.status("learning_rate") is not InterventionResult.CONFIRMED
    assert tried.trainer.measure.name == "test_accuracy"
    assert tried.remarks == []


@pytest.mark.parametrize(
    ("fall", "judge"),
    [(0.09, LOSS_FALL), (0.1, "test_accuracy"), (0.11, "test_accuracy")],
)
def test_the_training_loss_judges_only_where_nothing_is_learned(fall: float, judge: str) -> None:
    stuck = WithFall(
        lambda turned, seed: 0.5,
        lambda turned, seed: 0.6 + noise(seed) if turned else fall,
    )
    tried = tried_on(stuck, suspects(learning_rate=0.7))
    confirmed = tried.status("learning_rate") is InterventionResult.CONFIRMED
    assert (tried.trainer.measure.name, confirmed) == (judge, judge == LOSS_FALL)
    assert any("Judged by loss_fall" in remark for remark in tried.remarks) is confirmed


def test_the_metric_stays_where_the_training_loss_tells_nothing_apart_either() -> None:
    tried = tried_on(
        WithFall(lambda turned, seed: 0.5, lambda turned, seed: 0.01),
        suspects(learning_rate=0.7),
    )
    assert tried.trainer.measure.name == "test_accuracy"
    assert tried.status("learning_rate") is InterventionResult.UNDECIDED
    assert tried.remarks == []


@pytest.mark.parametrize(
    ("fall", "status"),
    [(0.01, InterventionResult.CONFIRMED), (0.5, InterventionResult.UNTRIED)],
)
def test_a_change_that_the_metric_cannot_judge_is_judged_by_the_training_loss(
    fall: float, status: InterventionResult
) -> None:
    loss = Measure("test_accuracy", larger_is_better=False, is_loss=True)
    executor = WithFall(
        lambda turned, seed: 0.5,
        lambda turned, seed: 0.7 + noise(seed) if turned else fall,
    )
    assert tried_on(executor, suspects(loss=0.7), measure=loss).status("loss") is status


@pytest.mark.parametrize(
    ("known", "status"),
    [
        ({"majority": 0.5}, InterventionResult.CONFIRMED),
        ({"majority": 0.8}, InterventionResult.RUNS_NOW),
        ({}, InterventionResult.RUNS_NOW),
    ],
)
def test_a_program_that_crashes_runs_now_and_is_better_only_above_a_constant_answer(
    known: dict[str, float], status: InterventionResult
) -> None:
    executor = Formulaic(lambda turned, seed: 0.7 + noise(seed) if Kind.LOSS in turned else None)
    everything = suspects(loss=0.6, learning_rate=0.6)
    loss = tried_on(executor, everything, **known).judged["loss"]
    assert loss.status is status
    assert loss.tried is not None
    assert loss.tried.confirmed is (status is InterventionResult.CONFIRMED)
    assert loss.note == loss.tried.shortfall
    runs = status is InterventionResult.RUNS_NOW
    assert loss.confidence == (loss.calibrated().confidence if runs else 0.9)


def test_a_loss_that_falls_below_zero_confirms_nothing() -> None:
    loss = Measure("test_accuracy", larger_is_better=False, is_loss=True)
    executor = Formulaic(lambda turned, seed: (-850 if turned else -670) + noise(seed))
    tried = tried_on(executor, suspects(learning_rate=0.8), measure=loss)
    assert tried.status("learning_rate") is InterventionResult.RUNS_NOW
    assert "-850 is below zero" in tried.judged["learning_rate"].note


def test_what_is_too_small_is_undecided_even_where_it_is_no_improvement() -> None:
    """Large on the screening seed, hardly anything on the others."""
    executor = Formulaic(lambda turned, seed: 0.5 + (0.3 if seed < 100 else 0.01) * bool(turned))
    tried = tried_on(executor, suspects(learning_rate=0.8), majority=0.9)
    rate = tried.judged["learning_rate"]
    assert rate.status is InterventionResult.UNDECIDED
    assert rate.tried is not None
    assert (rate.tried.p_value, rate.tried.shortfall) == (1 / 64, "")


def test_not_confirmed_knows_how_large_a_gain_would_have_been_seen() -> None:
    executor = Formulaic(
        lambda turned, seed: 0.9 if turned and seed < 100 else 0.5 + noise(seed * 7 + len(turned))
    )
    effect = tried_on(executor, suspects(learning_rate=0.6)).judged["learning_rate"].tried
    assert effect is not None
    assert effect.detectable == detectable_gain(effect.before, effect.after, planned=6, alpha=0.05)
    assert effect.detectable is not None


@pytest.mark.parametrize(
    ("gain", "status"),
    [(0.07, InterventionResult.REFUTED), (0.08, InterventionResult.UNDECIDED)],
)
def test_no_difference_is_less_than_three_twentieths_of_what_is_left(
    gain: float, status: InterventionResult
) -> None:
    """A half is left: 0.075."""
    tried = tried_on(Formulaic(only_later(gain)), suspects(learning_rate=0.8))
    rate = tried.judged["learning_rate"]
    assert rate.status is status
    assert rate.tried is not None
    assert (len(rate.tried.before), rate.tried.on_top_of, rate.tried.p_value) == (
        4,
        "",
        None,
    )
    refuted = status is InterventionResult.REFUTED
    share = 0.4 if refuted else 1.0
    assert rate.confidence == pytest.approx(share * rate.calibrated().confidence)
    assert ("makes no difference: surely less than 0.075" in rate.note) is refuted
    assert ("no clear difference over 4 seeds" in rate.note) is not refuted


@pytest.mark.parametrize(("more", "tried_out"), [(0.0, True), (1e-9, False)])
def test_what_would_be_reported_is_worth_refuting(more: float, tried_out: bool) -> None:
    everything = suspects(learning_rate=0.8)
    threshold = everything[0].confidence + more
    tried = tried_on(Formulaic(only_later(0.0)), everything, threshold=threshold)
    assert (tried.status("learning_rate") is InterventionResult.REFUTED) is tried_out
    assert any(trial.seed > 100 for trial in tried.executor.done) is tried_out


@pytest.mark.parametrize(("trainings", "refuted"), [(10, True), (9, False)])
def test_refuting_must_be_within_the_budget(trainings: float, refuted: bool) -> None:
    """Two were spent on the first look; four seeds with the change and four without it."""
    tried = tried_on(Formulaic(only_later(0.0)), suspects(learning_rate=0.8), trainings=trainings)
    assert (tried.status("learning_rate") is InterventionResult.REFUTED) is refuted
    assert len(tried.executor.done) == (10 if refuted else 2)


@pytest.mark.parametrize(("fall", "refuted"), [(0.09, False), (0.2, True)])
def test_nothing_is_refuted_beside_a_program_that_learns_nothing(
    fall: float, refuted: bool
) -> None:
    executor = WithFall(lambda turned, seed: 0.8, lambda turned, seed: fall)
    tried = tried_on(executor, suspects(learning_rate=0.8))
    assert (tried.status("learning_rate") is InterventionResult.REFUTED) is refuted


def test_beside_what_was_confirmed_the_rest_is_refuted_whatever_is_proven() -> None:
    proven = Observation(
        "RE900",
        "labels",
        "reenact",
        FaultType.CPP,
        Severity.ERROR,
        "labels are no classes",
        "why",
        0.95,
        certainty=Certainty.PROOF,
    )
    everything = (*suspects(learning_rate=0.8, optimizer=0.7), *grouped([finding_of(proven)]))
    tried = tried_on(Formulaic(helped_by(Kind.LEARNING_RATE, 0.3)), everything)
    assert tried.status("learning_rate") is InterventionResult.CONFIRMED
    assert tried.status("optimizer") is InterventionResult.REFUTED
    assert tried.status("labels") is InterventionResult.UNTRIED
    refuted = tried.judged["optimizer"].tried
    assert refuted is not None
    assert "learning-rate" in refuted.on_top_of


@pytest.mark.parametrize(("confidence", "demoted"), [(0.89, True), (0.9, False)])
def test_what_would_have_helped_instead_stays_a_finding_when_it_is_sure(
    confidence: float, demoted: bool
) -> None:
    executor = Formulaic(lambda turned, seed: (0.9 if turned else 0.5) + noise(seed) / 100)
    tried = tried_on(executor, suspects(learning_rate=0.97, optimizer=confidence))
    assert tried.status("learning_rate") is InterventionResult.CONFIRMED
    other = tried.judged["optimizer"]
    assert other.status is InterventionResult.UNDECIDED
    assert other.note == "changing this instead helped too, in a first look"
    assert other.confidence == pytest.approx(0.44 if demoted else other.calibrated().confidence)


def test_what_would_have_helped_instead_stays_a_finding_when_it_is_proven() -> None:
    executor = Formulaic(lambda turned, seed: (0.9 if turned else 0.5) + noise(seed) / 100)
    everything = (*suspects(learning_rate=0.8), *surely(Certainty.PROOF, optimizer=0.6))
    tried = tried_on(executor, everything)
    assert tried.status("learning_rate") is InterventionResult.CONFIRMED
    assert tried.judged["optimizer"].confidence >= 0.95


def test_what_helped_in_a_first_look_and_was_not_verified_says_so() -> None:
    """Two are verified at most, the third is not refuted either."""
    executor = Formulaic(lambda turned, seed: 0.9 if turned and seed < 100 else 0.5)
    plan = InterventionPlan(screened=7, seeds=6, screening_seeds=2)
    everything = suspects(learning_rate=0.49, optimizer=0.48, epochs=0.47)
    tried = tried_on(executor, everything, plan=plan, threshold=0.1, trainings=200)
    notes = sorted(one.note for one in tried.judged.values())
    assert notes == ["", "", "helped in a first look"]
    assert {one.status for one in tried.judged.values()} == {InterventionResult.UNDECIDED}


def test_a_second_look_takes_back_what_was_luck() -> None:
    """Two changes help on the first screening seed alone: neither is verified. One alone is not
    looked at again.
    """
    lucky = Formulaic(lambda turned, seed: 0.9 if turned and seed == 11 else 0.5)
    two = tried_on(lucky, suspects(learning_rate=0.49, optimizer=0.48))
    assert [one.tried.p_value for one in two.judged.values() if one.tried] == [
        None,
        None,
    ]
    assert {trial.seed for trial in lucky.done if trial.seed < 100} == {11, 12}
    one = tried_on(lucky, suspects(learning_rate=0.49))
    assert one.judged["learning_rate"].tried is not None
    assert one.judged["learning_rate"].tried.p_value is not None


def test_the_first_two_of_those_that_helped_are_looked_at_again() -> None:
    executor = Formulaic(lambda turned, seed: 0.9 if turned and seed < 100 else 0.5)
    everything = suspects(learning_rate=0.49, optimizer=0.48, epochs=0.47)
    tried_on(executor, everything, trainings=200)
    again = [trial for trial in executor.done if trial.seed == 12]
    assert len([trial for trial in again if trial.patch.complexity == 1]) == 2


def test_strong_suspects_are_changed_at_once_and_cut_down() -> None:
    everything = (
        *surely(Certainty.STRONG, learning_rate=0.8, loss=0.7),
        *suspects(optimizer=0.6),
    )
    tried = tried_on(Formulaic(helped_by(Kind.LEARNING_RATE, 0.4)), everything)
    first_change = next(trial for trial in tried.executor.done if trial.patch)
    assert first_change.patch.complexity == 2
    assert tried.status("learning_rate") is InterventionResult.CONFIRMED
    assert tried.status("loss") in (
        InterventionResult.UNDECIDED,
        InterventionResult.REFUTED,
    )
    assert tried.status("optimizer") is InterventionResult.UNTRIED
    assert tried.judged["optimizer"].note == ""


def test_what_a_joint_change_does_not_need_is_undecided() -> None:
    everything = surely(Certainty.STRONG, learning_rate=0.8, loss=0.3)
    tried = tried_on(Formulaic(helped_by(Kind.LEARNING_RATE, 0.4)), everything)
    assert tried.status("learning_rate") is InterventionResult.CONFIRMED
    assert tried.judged["loss"].note == "the joint change that helped does not need it"


@pytest.mark.parametrize(
    ("certainty", "notes"),
    [
        (
            Certainty.HINT,
            [(3, "change 2 suspects, one by one"), (4, "1 joint"), (5, "verify over up to 6")],
        ),
        (Certainty.STRONG, [(3, "change 2 suspects at once"), (5, "verify over up to 6")]),
    ],
)
def test_a_waiting_user_reads_what_is_being_done(
    certainty: Certainty, notes: list[tuple[int, str]]
) -> None:
    said: list[Progress] = []
    everything = surely(certainty, learning_rate=0.8, loss=0.7)
    tried_on(Formulaic(helped_by(Kind.LEARNING_RATE, 0.4)), everything, tell=said.append)
    assert {(one.what, one.total) for one in said} == {("diagnose", 5)}
    assert [one.done for one in said] == [done for done, _ in notes]
    assert all(one.note.startswith(words) for one, (_, words) in zip(said, notes, strict=True))


def test_hints_are_changed_one_by_one() -> None:
    tried = tried_on(
        Formulaic(helped_by(Kind.LEARNING_RATE, 0.4)),
        suspects(learning_rate=0.8, loss=0.7),
    )
    assert next(trial for trial in tried.executor.done if trial.patch).patch.complexity == 1


def test_one_strong_suspect_is_not_a_joint_change() -> None:
    everything = (*surely(Certainty.STRONG, learning_rate=0.8), *suspects(loss=0.7))
    tried = tried_on(Formulaic(helped_by(Kind.LOSS, 0.4)), everything)
    assert tried.status("loss") is InterventionResult.CONFIRMED
    looked = tried.judged["learning_rate"].tried
    assert looked is not None, "both were looked at by themselves"


def test_what_did_not_help_in_a_first_look_decides_nothing() -> None:
    tried = tried_on(Formulaic(lambda turned, seed: 0.5), suspects(learning_rate=0.3), majority=0.5)
    rate = tried.judged["learning_rate"]
    assert rate.status is InterventionResult.UNDECIDED
    assert rate.note == "changing it did not help in a first look, which decides nothing"
    assert rate.tried is not None
    assert (rate.tried.before, rate.tried.after) == ((0.5,), (0.5,))


@pytest.mark.parametrize(("gain", "tuning"), [(0.09, True), (0.11, False)])
def test_a_slight_suspect_must_bring_a_quarter_of_what_is_left(gain: float, tuning: bool) -> None:
    """Two fifths are left: 0.1."""
    tried = tried_on(Formulaic(helped_by(Kind.EPOCHS, gain, 0.6)), suspects(epochs=0.4))
    epochs = tried.judged["epochs"]
    assert epochs.status is InterventionResult.CONFIRMED
    assert epochs.confidence == pytest.approx(0.44 if tuning else 0.9)
    assert ("not much" in epochs.note) is tuning


@pytest.mark.parametrize(("confidence", "tuning"), [(0.49, True), (0.5, False)])
def test_a_suspect_is_slight_below_a_half(confidence: float, tuning: bool) -> None:
    tried = tried_on(Formulaic(helped_by(Kind.EPOCHS, 0.08, 0.6)), suspects(epochs=confidence))
    assert (tried.judged["epochs"].confidence < 0.45) is tuning


def test_a_slight_suspicion_that_is_proof_is_never_tuning() -> None:
    tried = tried_on(
        Formulaic(helped_by(Kind.EPOCHS, 0.08, 0.6)),
        surely(Certainty.PROOF, epochs=0.4),
    )
    assert tried.judged["epochs"].confidence >= 0.95


@pytest.mark.parametrize(("base", "well"), [(0.94, False), (0.951, True)])
def test_a_training_that_does_well_needs_no_slight_suspect(base: float, well: bool) -> None:
    tried = tried_on(Formulaic(helped_by(Kind.EPOCHS, 0.04, base)), suspects(epochs=0.4))
    assert tried.status("epochs") is InterventionResult.CONFIRMED
    assert ("does well as it is" in tried.judged["epochs"].note) is well
    assert (tried.judged["epochs"].confidence < 0.45) is well


def test_six_fresh_seeds_judge_from_101_on() -> None:
    tried = tried_on(Formulaic(helped_by(Kind.LEARNING_RATE, 0.3)), suspects(learning_rate=0.8))
    fresh = {trial.seed for trial in tried.executor.done if trial.seed > 20}
    assert fresh == set(range(101, 107))


def test_where_the_time_is_up_before_anything_was_seen_that_is_the_answer() -> None:
    stop = Late(60.0)
    stop.up = True
    with pytest.raises(TimeSpent):
        tried_on(Formulaic(lambda turned, seed: 0.5), suspects(learning_rate=0.8), stop=stop)


def test_where_the_time_is_up_before_a_joint_change_is_verified_that_is_the_answer() -> None:
    stop = Late(60.0)

    def formula(turned: frozenset[Kind], seed: int) -> float:
        stop.up = seed > 100
        return 0.9 if turned else 0.5

    everything = surely(Certainty.STRONG, learning_rate=0.8, loss=0.7)
    with pytest.raises(TimeSpent):
        tried_on(Formulaic(formula), everything, stop=stop)


def test_what_was_not_verified_in_time_is_remarked() -> None:
    stop = Late(60.0)

    def formula(turned: frozenset[Kind], seed: int) -> float:
        stop.up = seed > 100
        return 0.9 if turned else 0.5

    tried = tried_on(Formulaic(formula), suspects(learning_rate=0.6), stop=stop)
    assert tried.remarks[0].startswith("What helped in a first look was not verified. ")
    assert tried.judged["learning_rate"].note == "helped in a first look"


def test_where_the_time_is_up_between_looks_what_was_seen_is_kept() -> None:
    """Both help on the first screening seed; the second look takes another."""
    stop = Late(60.0)

    def formula(turned: frozenset[Kind], seed: int) -> float:
        stop.up = seed == 12
        return 0.9 if turned else 0.5

    tried = tried_on(Formulaic(formula), suspects(learning_rate=0.6, optimizer=0.8), stop=stop)
    assert tried.remarks[0].startswith("What helped in a first look was not verified. ")
    assert {one.note for one in tried.judged.values()} == {"helped in a first look"}
    assert not [trial for trial in tried.executor.done if trial.seed > 100]


def test_where_the_time_is_up_among_joint_changes_the_single_ones_are_kept() -> None:
    """None of them helps alone, and nothing is known of both together."""
    stop = Late(60.0)

    def formula(turned: frozenset[Kind], seed: int) -> float:
        stop.up = len(turned) > 1
        return 0.5

    tried = tried_on(Formulaic(formula), suspects(learning_rate=0.6, optimizer=0.8), stop=stop)
    assert len(tried.remarks) == 1
    assert set(tried.judged) == {"learning_rate", "optimizer"}


@pytest.mark.parametrize(
    ("trainings", "verified", "looked"),
    [(17, 1, {11}), (18, 1, {11, 12}), (23, 1, {11, 12}), (24, 2, {11, 12})],
)
def test_a_second_look_and_a_second_change_must_be_within_the_budget(
    trainings: float, verified: int, looked: set[int]
) -> None:
    """Three for the first look, three for the second, twelve to verify a change, six to verify
    another.
    """
    executor = Formulaic(
        lambda turned, seed: 0.9 if turned and seed < 100 else 0.5 + noise(seed * 7 + len(turned))
    )
    everything = suspects(learning_rate=0.49, optimizer=0.48)
    tried = tried_on(executor, everything, trainings=trainings, threshold=0.6)
    effects = [one.tried for one in tried.judged.values() if one.tried is not None]
    assert sum(effect.p_value is not None for effect in effects) == verified
    assert {trial.seed for trial in executor.done if trial.seed < 100} == looked


def test_programs_of_the_tests_have_the_hyperparameters() -> None:
    assert isinstance(PROGRAM, Program)
    assert {Kind.LEARNING_RATE, Kind.OPTIMIZER, Kind.EPOCHS, Kind.LOSS} <= {
        k.kind for k in hyperparameters_of(PROGRAM)
    }


def test_what_does_not_help_at_once_is_changed_one_by_one() -> None:
    """Two strong suspects change nothing together; the hint next to them is the cause."""
    everything = (
        *surely(Certainty.STRONG, learning_rate=0.8, loss=0.7),
        *suspects(optimizer=0.6),
    )
    tried = tried_on(Formulaic(helped_by(Kind.OPTIMIZER, 0.4)), everything)
    assert tried.status("optimizer") is InterventionResult.CONFIRMED
    alone = [trial.patch for trial in tried.executor.done if trial.patch.complexity == 1]
    assert {one.hyperparameter.kind for patch in alone for one in patch.changes} == {  # type: ignore[union-attr]
        Kind.LEARNING_RATE,
        Kind.LOSS,
        Kind.OPTIMIZER,
    }
