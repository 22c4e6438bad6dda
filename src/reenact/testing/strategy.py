"""What every strategy must do. A test inherits `StrategyContract` and gives the fixture `strategy`.

The trainings of a program follow a formula, since the reasoning of a strategy counts: in the
contract the learning rate decides, everything else does nothing.
"""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from reenact.diagnosis.grouping import grouped
from reenact.faults.detector import suggest
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding, finding_of
from reenact.faults.observation import Observation, Severity
from reenact.journal import Journal
from reenact.probe.outcome import OutcomeKind
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.program import Program, program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.repairs.options import RepairOptions
from reenact.repairs.search_context import Evaluation, SearchContext
from reenact.repairs.strategies.strategy import Strategy
from reenact.trials.budget import repair_budget
from reenact.trials.executor import ScriptedExecutor
from reenact.trials.metric import Measure
from reenact.trials.trainer import SCREENING_SEEDS, BudgetedTrainer
from reenact.trials.trial import Outcome, Trial
from reenact.types import JsonValue, Stop, tell_nobody

SOURCE = """import keras
from keras.layers import Dense
model = keras.Sequential([Dense(8, activation="relu"), Dense(3, activation="softmax")])
model.compile(
    loss="categorical_crossentropy", optimizer=keras.optimizers.SGD(learning_rate=0.5), metrics=["accuracy"]
)
model.fit(x, y, batch_size=32, epochs=12)
"""
PROGRAM = program_from_text(SOURCE)
Values = Mapping[Kind, JsonValue]
Formula = Callable[[Values], float | None]


def values_of(trial: Trial) -> dict[Kind, JsonValue]:
    """What the patched program says, by kind: learning rate, epochs, batch size, optimiser,
    loss.
    """
    return {param.kind: param.in_force for param in hyperparameters_of(trial.patched)}


def played(
    formula: Formula,
    noise: float = 0.0,
    lucky: float | None = None,
) -> ScriptedExecutor:
    """Accuracy by the formula, or what the first seed reaches in any case; CPU time by epochs and
    batches, a second for the unchanged program.
    """

    def play(trial: Trial) -> Outcome:
        values = values_of(trial)
        epochs = values[Kind.EPOCHS]
        batch = values[Kind.BATCH_SIZE]
        assert isinstance(epochs, int)
        assert isinstance(batch, int)
        reached = (
            lucky if lucky is not None and trial.seed == SCREENING_SEEDS[0] else formula(values)
        )
        cost = epochs / 12 * min(4.0, max(0.5, 32 / batch))
        if reached is None:
            return Outcome(OutcomeKind.CRASHED, cpu_seconds=cost)
        chance = random.Random(f"{trial.key}-{trial.seed}")  # noqa: S311 - no secret
        measured = min(1.0, max(0.0, reached + chance.gauss(0, noise)))
        return Outcome(
            OutcomeKind.FINISHED,
            steps=9,
            metrics={"test_accuracy": measured},
            cpu_seconds=cost,
            seconds=cost,
        )

    return ScriptedExecutor(play)


@dataclass
class Suspicion:
    """What a diagnosis is made to suspect."""

    kind: Kind
    value: JsonValue
    confidence: float
    fault: FaultType = FaultType.HLR


@dataclass
class Given:
    """A search context over a formula, and what it used."""

    context: SearchContext
    executor: ScriptedExecutor
    best: list[Evaluation] = field(default_factory=list)


def search_context(
    formula: Formula,
    *suspicions: Suspicion,
    budget: str = "20x",
    noise: float = 0.0,
    lucky: float | None = None,
    strategy: str = "guided",
    chance: int = 0,
    studies: Path | None = None,
    program: Program = PROGRAM,
) -> Given:
    """A strategy's search context; the unchanged program was trained once."""
    executor = played(formula, noise, lucky)
    run = Journal.in_memory().run(pipeline="test", request={"for": "test"}).__enter__()
    trainer = BudgetedTrainer(
        program=program,
        executor=executor,
        measure=Measure("test_accuracy"),
        budget=repair_budget(budget),
        one_training=1.0,
        one_wall=1.0,
        trials=run.under("trials"),
        stop=Stop(),
    )
    trainer.measure_cost()
    best: list[Evaluation] = []
    context = SearchContext(
        Evidence(program),
        suspects(*suspicions, program=program),
        trainer,
        RepairOptions(strategy=strategy, budget=budget, chance=chance),
        tell_nobody,
        best.append,
        studies=studies,
    )
    return Given(context, executor, best)


def suspects(*suspicions: Suspicion, program: Program = PROGRAM) -> tuple[Finding, ...]:
    """What the diagnosis suspects."""
    params = {param.kind: param for param in reversed(hyperparameters_of(program))}
    observations = (
        Observation(
            code=f"RE{number:03}",
            name=one.kind.value,
            family="reenact",
            fault=one.fault,
            severity=Severity.WARNING,
            saw="saw",
            why="why",
            confidence=one.confidence,
            hyperparameter=params[one.kind].id,
            suggestions=tuple(
                suggest(
                    params[one.kind],
                    (one.value,),
                )
            ),
        )
        for number, one in enumerate(suspicions)
    )
    return grouped(map(finding_of, observations))


def set_to(kind: Kind, value: JsonValue, program: Program = PROGRAM) -> Set:
    """The change of the one hyperparameter of this kind."""
    return Set(
        next(param.id for param in hyperparameters_of(program) if param.kind is kind),
        value,
    )


def rate_decides(values: Values) -> float:
    """0.9 for a learning rate between 1e-4 and 1e-1, else 0.3."""
    rate = values[Kind.LEARNING_RATE]
    assert isinstance(rate, float)
    return 0.9 if 1e-4 <= rate <= 1e-1 else 0.3


def nothing_helps(values: Values) -> float:  # noqa: ARG001
    """The same, whatever is set."""
    return 0.5


class StrategyContract:
    """Inherit it, give `strategy`."""

    def test_finds_what_helps(self, strategy: Strategy) -> None:
        given = search_context(
            rate_decides,
            Suspicion(Kind.LEARNING_RATE, 0.001, 0.9),
            strategy=strategy.name,
        )
        found = strategy.search(given.context)
        assert found
        assert given.context.scores(found[:1])[0] == pytest.approx(0.9)

    def test_finds_nothing_where_nothing_helps(self, strategy: Strategy) -> None:
        given = search_context(nothing_helps, strategy=strategy.name)
        assert strategy.search(given.context) == []

    @pytest.mark.parametrize("budget", ["5x", "12x"])
    def test_the_budget_holds_and_the_reserve_stays(self, strategy: Strategy, budget: str) -> None:
        given = search_context(nothing_helps, strategy=strategy.name, budget=budget)
        given.context.reserve = 1.0
        strategy.search(given.context)
        assert given.context.trainer.usage.spent <= float(budget.removesuffix("x")) - 1.0 + 1e-6

    def test_the_same_random_seed_gives_the_same_search(self, strategy: Strategy) -> None:
        tried = []
        for _ in range(2):
            given = search_context(
                rate_decides,
                strategy=strategy.name,
                noise=0.02,
                chance=3,
            )
            strategy.search(given.context)
            tried.append([look.patch for look in given.context.evaluations])
        assert tried[0] == tried[1]

    def test_what_crashes_is_no_repair(self, strategy: Strategy) -> None:
        given = search_context(
            lambda values: 0.5 if values[Kind.LEARNING_RATE] == 0.5 else None,
            strategy=strategy.name,
        )
        for patch in strategy.search(given.context):
            assert given.context.scores([patch])[0] > 0.5
