"""A bare torch loop in the place of Keras's `fit` trains the same, and steps back where it does not know."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from statistics import fmean, variance
from typing import Any

import pytest

from reenact.probe import injected as probe
from reenact.probe.outcome import OutcomeKind
from reenact.testing.executor import HEALTHY, program_in
from reenact.trials import injected
from reenact.trials.ensemble import Ensemble
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import StopRule, Trial, TrialLimits

pytestmark = pytest.mark.frameworks

APART = 2e-4
"""Of float32 numbers after a few dozen steps, relative to one and their own size."""


@pytest.fixture(scope="module")
def pairs() -> dict[str, Any]:
    """Trained in a process of its own, see the script."""
    paths = (str(injected.FOLDER), str(probe.FOLDER))
    environment = dict(os.environ, KERAS_BACKEND="torch", OMP_NUM_THREADS="1", REENACT_PROBE="")
    script = Path(__file__).with_name("express_pairs.py")
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", str(script), *paths],
        env=environment,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


def test_stacked_trainings_are_those_trained_alone(pairs: dict[str, Any]) -> None:
    stacked = dict(pairs["stacked"])
    alone, together = stacked.pop("dropout")
    assert {
        name: both for name, both in stacked.items() if both[1] != pytest.approx(both[0], abs=APART)
    } == {}
    spread = math.sqrt((variance(alone) + variance(together)) / len(alone))
    assert abs(fmean(alone) - fmean(together)) < 3 * spread, "the same distribution over the seeds"
    assert alone != together, "dropout draws its own"


def test_every_training_was_expressed_and_none_came_out_differently(pairs: dict[str, Any]) -> None:
    assert pairs["told"]["refused"] == []
    assert pairs["told"]["expressed"] >= len(pairs["pairs"])
    assert {name: pair for name, pair in pairs["pairs"].items() if not pair["apart"] <= APART} == {}
    assert all(pair["logs"] for pair in pairs["pairs"].values())
    assert len(pairs["pairs"]) > 35


@pytest.fixture
def express(ensemble: Ensemble) -> ProcessPool:
    """One trial at a time is trained by itself there, as in a pool with `express`."""
    return ensemble


KERAS = """\
import keras
import numpy as np

x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = (x.sum(1) > 0).astype("float32")
inputs = keras.Input((4,))
hidden = keras.layers.Dense(8, activation="relu")(inputs)
hidden = keras.layers.Dropout(0.2)(keras.layers.add([hidden, keras.layers.Dense(8)(inputs)]))
model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(hidden))
stop = keras.callbacks.EarlyStopping("loss", patience=50, restore_best_weights=True)
slower = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate * 0.9)
model.compile(optimizer="adam", loss="binary_crossentropy", metrics=["accuracy"])
model.fit(x, y, batch_size=16, epochs=4, validation_split=0.25, verbose=2, callbacks=[stop, slower])
model.evaluate(x, y, verbose=0)
print("test mae:", abs(model.predict(x, verbose=0).ravel() - y).mean())
"""


def test_a_trial_tells_the_same_either_way(pool: ProcessPool, express: ProcessPool, tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", KERAS)
    (plain,), (quick, short) = (
        pool.run([Trial(program, seed=5)]),
        express.run([Trial(program, seed=5), Trial(program, seed=5, limits=TrialLimits(steps=7))]),
    )
    assert (quick.kind, quick.expressed, quick.fallback) == (OutcomeKind.FINISHED, True, ""), quick
    assert (plain.expressed, plain.fallback) == (False, "")
    assert (quick.steps, quick.epochs) == (plain.steps, plain.epochs) == (12, 4)
    assert {name: quick.sources[name] for name in plain.sources} == dict(plain.sources)
    assert quick.metrics == pytest.approx(dict(plain.metrics), abs=2e-4)
    for name, curve in plain.curves.items():
        assert [step for step, _ in quick.curve(name)] == [step for step, _ in curve]
        assert [value for _, value in quick.curve(name)] == pytest.approx([v for _, v in curve], abs=2e-4)
    assert (short.kind, short.steps, short.expressed) == (OutcomeKind.STOPPED, 7, True), short


def test_what_is_not_known_is_trained_by_keras_and_the_reason_told(
    express: ProcessPool, tmp_path: Path
) -> None:
    own_metric = KERAS.replace('["accuracy"]', "[lambda y, p: keras.ops.mean(p)]")
    own_layer = KERAS.replace("keras.layers.Dense(8)(inputs)", "Mine(8)(inputs)").replace(
        "inputs =", "class Mine(keras.layers.Dense):\n    pass\n\ninputs =", 1
    )
    closely = Trial(program_in(tmp_path / "p", KERAS), seed=1, preset="quick")
    found = express.run(
        [
            Trial(program_in(tmp_path / "q", own_metric), seed=1),
            Trial(program_in(tmp_path / "r", own_layer), seed=1),
            closely,
            Trial(program_in(tmp_path / "s", HEALTHY), seed=1),
        ]
    )
    assert [outcome.kind for outcome in found] == [OutcomeKind.FINISHED] * 4, found
    assert [outcome.expressed for outcome in found] == [False] * 4
    for outcome, reason in zip(found, ("metric", "Mine", "looks closely", ""), strict=True):
        assert reason in outcome.fallback
    assert found[3].fallback == "", "there is no Keras in it"


def test_a_hopeless_training_is_given_up_inside_the_bare_loop(express: ProcessPool, tmp_path: Path) -> None:
    nan = KERAS.replace('optimizer="adam"', "optimizer=keras.optimizers.SGD(float('nan'))")
    nan = nan.replace("epochs=4", "epochs=40").replace("binary_crossentropy", "mse").replace(", slower]", "]")
    bar = StopRule("val_accuracy", 1.1)
    lost, low = express.run(
        [
            Trial(program_in(tmp_path / "p", nan), seed=1, hopeless=StopRule()),
            Trial(program_in(tmp_path / "q", KERAS), seed=1, hopeless=bar),
        ]
    )
    assert "no finite number" in lost.stopped, lost
    assert lost.steps < 120
    assert "after 2 of 4 epochs" in low.stopped, low
    assert (low.steps, low.expressed) == (6, True)
