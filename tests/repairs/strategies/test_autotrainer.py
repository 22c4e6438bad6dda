"""autotrainer with real trainings: gradients that vanish in a deep sigmoid network, and the
remedy for it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.faults.evidence import Evidence
from reenact.journal import Journal
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import read_program
from reenact.repairs.options import RepairOptions
from reenact.repairs.search_context import SearchContext
from reenact.repairs.strategies.autotrainer import REMEDIES, AutoTrainer, remedy_changes
from reenact.testing.strategy import PROGRAM
from reenact.trials.budget import repair_budget
from reenact.trials.metric import Measure
from reenact.trials.pool import ProcessPool
from reenact.trials.trainer import BudgetedTrainer
from reenact.trials.trial import Trial, Weights
from reenact.types import Stop, tell_nobody

pytestmark = pytest.mark.frameworks

DEEP = """import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras
from keras.layers import Dense
from reenact.testing.toys import blobs

x, y = blobs(320)
model = keras.Sequential([
    keras.Input((8,)),
    Dense(12, activation="sigmoid"), Dense(12, activation="sigmoid"), Dense(12, activation="sigmoid"),
    Dense(12, activation="sigmoid"), Dense(12, activation="sigmoid"), Dense(12, activation="sigmoid"),
    Dense(12, activation="sigmoid"), Dense(12, activation="sigmoid"), Dense(12, activation="sigmoid"),
    Dense(3, activation="softmax"),
])
model.compile(loss="sparse_categorical_crossentropy", optimizer="sgd",
              metrics=["accuracy"])
model.fit(x[:240], y[:240], batch_size=24, epochs=8, validation_data=(x[240:], y[240:]), verbose=0)
"""


def test_the_remedy_for_vanishing_gradients_is_found(tmp_path: Path) -> None:
    strategy = AutoTrainer()
    (tmp_path / "train.py").write_text(DEEP)
    program = read_program(("train.py",), tmp_path)
    weights = tmp_path / "weights"
    weights.mkdir()
    with (
        Journal.in_memory() as journal,
        journal.run(pipeline="test", request={}) as run,
        ProcessPool(1) as pool,
    ):
        trainer = BudgetedTrainer(
            program=program,
            executor=pool,
            measure=Measure("val_accuracy"),
            budget=repair_budget("12x"),
            one_training=1.0,
            one_wall=1.0,
            trials=run.under("trials"),
            stop=Stop(),
        )
        trainer.measure_cost()
        context = SearchContext(
            Evidence(program),
            (),
            trainer,
            RepairOptions(strategy=strategy.name),
            tell_nobody,
            note=lambda look: None,
            scratch=weights,
        )
        (found,) = strategy.search(context)
        run.finish({})
    kinds = {change.hyperparameter.kind for change in found.changes}  # type: ignore[union-attr]
    assert Kind.ACTIVATION in kinds
    assert list(weights.iterdir()), "it continues from the weights that it left"


def test_weights_are_taken_where_they_were_left(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DEEP.replace('"sigmoid"', '"relu"'))
    program = read_program(("train.py",), tmp_path)
    left = tmp_path / "left.npz"
    with ProcessPool(1) as pool:
        (first,) = pool.run([Trial(program, seed=1, weights=Weights(end=left))])
        assert left.is_file()
        (again,) = pool.run([Trial(program, seed=1, weights=Weights(start=left))])
    assert again.curve("loss")[0][1] < first.curve("loss")[0][1]


@pytest.mark.parametrize(
    "remedy", sorted({name for listed in REMEDIES.values() for name, _ in listed})
)
def test_every_remedy_is_a_change_that_can_be_made(remedy: str) -> None:
    import random

    from reenact.program.static_graph import hyperparameters_of

    changes = tuple(remedy_changes(remedy, hyperparameters_of(PROGRAM), 1, random.Random(0)))
    if not changes:
        assert remedy == "relu", "the hidden layer has it already"
        return
    assert Patch(changes).apply(PROGRAM) != PROGRAM
