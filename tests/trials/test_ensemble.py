"""Trainings of one shape are trained together, and each trial tells what it would have told alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.probe.outcome import OutcomeKind
from reenact.program.hyperparameter import Kind
from reenact.testing.executor import ExecutorContract, patch_setting, program_in, wait_until_gone
from reenact.trials.ensemble import Ensemble
from reenact.trials.executor import Executor
from reenact.trials.outcome import Outcome
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import StopRule, Trial, TrialLimits

pytestmark = pytest.mark.frameworks

KERAS = """\
import keras
import numpy as np

x = np.random.default_rng(0).normal(size=(70, 4)).astype("float32")
y = (x.sum(1) > 0).astype("float32")
model = keras.Sequential([keras.Input((4,)), keras.layers.Dense(8, activation="relu"), keras.layers.Dense(1)])
model.compile(optimizer=keras.optimizers.Adam(learning_rate=0.01), loss="mse", metrics=["mae"])
model.fit(x, y, batch_size=16, epochs=3, validation_split=0.2, verbose=0)
model.evaluate(x, y, verbose=0)
model.fit(x, y, batch_size=16, epochs=1, verbose=0)
print("test rmse:", float(np.sqrt(np.mean((model.predict(x, verbose=0).ravel() - y) ** 2))))
"""


class TestEnsemble(ExecutorContract):
    @pytest.fixture
    def executor(self, ensemble: Ensemble) -> Executor:
        return ensemble


def _same(keras: Outcome, stacked: Outcome) -> bool:
    alike = (keras.kind, keras.steps, keras.epochs) == (stacked.kind, stacked.steps, stacked.epochs)
    # What the probe sees by looking into the first evaluations is no word of the program's.
    told = {name: value for name, value in keras.metrics.items() if keras.sources[name] != "probe"}
    return alike and {name: stacked.metrics[name] for name in told} == pytest.approx(told, abs=2e-4)


def test_what_keras_makes_of_each_comes_out_of_the_stack(
    pool: ProcessPool, ensemble: Ensemble, tmp_path: Path
) -> None:
    program = program_in(tmp_path / "p", KERAS)
    faster = patch_setting(program, Kind.LEARNING_RATE, 0.05)
    wider = program_in(tmp_path / "q", KERAS.replace("Dense(8", "Dense(9"))
    trials = [Trial(program, seed=seed) for seed in range(4)]
    trials += [Trial(program, faster, seed=seed) for seed in range(4)]
    trials += [Trial(wider, seed=1), Trial(program, seed=1, limits=TrialLimits(steps=5))]
    known = set(ensemble.gains)
    together = ensemble.run(trials)
    assert len(set(ensemble.gains) - known) == 1, "one stack, of the two rates"
    alone = pool.run(trials)
    assert [outcome.kind for outcome in together] == [OutcomeKind.FINISHED] * 9 + [OutcomeKind.STOPPED]
    assert [outcome.expressed for outcome in together] == [True] * 10
    assert [_same(one, other) for one, other in zip(alone, together, strict=True)] == [True] * 10, (
        alone,
        together,
    )
    assert len({outcome.metrics["test_rmse"] for outcome in together[:8]}) == 8


def test_a_rule_for_giving_up_is_followed_while_playing_back(ensemble: Ensemble, tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", KERAS)
    rule = StopRule("val_mae", 0.0, larger_is_better=False, share=0.6)
    found = ensemble.run([Trial(program, seed=seed, hopeless=rule) for seed in range(8)])
    assert {outcome.kind for outcome in found} == {OutcomeKind.STOPPED}, found
    assert {outcome.steps for outcome in found} == {8}
    assert all("2 of 3 epochs" in outcome.stopped for outcome in found)


def test_when_the_server_of_waiting_trials_dies_they_are_done_again(
    ensemble: Ensemble, tmp_path: Path
) -> None:
    notes = tmp_path / "killed"
    kill = f"""\
import os, signal
if not os.path.exists({str(notes)!r}):
    open({str(notes)!r}, "w").close()
    os.kill(os.getppid(), signal.SIGKILL)
"""
    program = program_in(tmp_path / "p", KERAS.replace("model.evaluate", f"{kill}model.evaluate", 1))
    ensemble.run([Trial(program_in(tmp_path / "first", KERAS), seed=0)])
    before = ensemble.servers
    found = ensemble.run([Trial(program, seed=seed) for seed in range(5)])
    assert [(outcome.kind, outcome.steps) for outcome in found] == [(OutcomeKind.FINISHED, 17)] * 5, found
    assert len({outcome.metrics["test_rmse"] for outcome in found}) == 5
    assert before
    wait_until_gone(before)
