"""Hopeless trainings are given up on request, say why, and keep what they logged."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.errors import InputError
from reenact.probe.outcome import OutcomeKind
from reenact.program.program import read_program
from reenact.testing.executor import HEALTHY, STEPS, program_in
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import StopRule, Trial

KERAS = """\
import keras
import numpy as np

x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
y = x.sum(1)
model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse", metrics=["mae"])
model.fit(x, y, batch_size=32, epochs=6, validation_data=(x, y), verbose=2)
"""


def test_a_bar_that_is_not_reached_ends_a_keras_training(pool: ProcessPool, tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", KERAS)
    low = StopRule("val_mae", 1e-9, larger_is_better=False, share=0.5)
    high = StopRule("val_mae", 1e9, larger_is_better=False, share=0.5)
    given_up, reached = pool.run([Trial(program, seed=1, hopeless=rule) for rule in (low, high)])
    assert (given_up.kind, given_up.steps, given_up.trained) == (OutcomeKind.STOPPED, 6, True), given_up
    assert "val_mae had reached" in given_up.stopped
    assert "3 of 6 epochs" in given_up.stopped
    assert len(given_up.curve("val_mae")) == 3
    assert (reached.kind, reached.steps, reached.stopped) == (OutcomeKind.FINISHED, 12, ""), reached


@pytest.mark.parametrize("launcher", [(), ("env", "SOME=1")])
def test_a_printed_metric_counts_where_the_epochs_are_known(
    pool: ProcessPool, tmp_path: Path, warm_interpreter: str, launcher: tuple[str, ...]
) -> None:
    program_in(tmp_path / "p", HEALTHY)
    command = [*launcher, warm_interpreter, "train.py"] if launcher else ["train.py"]
    program = read_program(command, tmp_path / "p")
    rule = StopRule("test_loss", 0.0, larger_is_better=False, share=0.6, epochs=3)
    unknown = StopRule("test_loss", 0.0, larger_is_better=False, share=0.6)
    given_up, whole = pool.run([Trial(program, seed=1, hopeless=rule) for rule in (rule, unknown)])
    assert (given_up.kind, given_up.steps) == (OutcomeKind.STOPPED, 8), given_up
    assert "after 2 of 3 epochs" in given_up.stopped
    assert (whole.kind, whole.steps) == (OutcomeKind.FINISHED, STEPS), whole


def test_a_loss_that_is_no_number_any_more(pool: ProcessPool, tmp_path: Path) -> None:
    text = HEALTHY.replace("lr=0.05", "lr=1e30").replace("range(3)", "range(50)")
    program = program_in(tmp_path / "p", text)
    rules = (StopRule(), StopRule(not_finite=False))
    given_up, whole = pool.run([Trial(program, seed=1, hopeless=rule) for rule in rules])
    assert given_up.kind is OutcomeKind.STOPPED, given_up
    assert "no finite number" in given_up.stopped
    assert given_up.steps < whole.steps == 200


def test_a_rule_is_part_of_the_key_and_must_make_sense(tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", HEALTHY)
    keys = {Trial(program, hopeless=rule).key for rule in (None, StopRule(), StopRule("a", 1.0))}
    assert len(keys) == 3
    with pytest.raises(InputError, match="share=0"):
        StopRule(share=0.0)
    with pytest.raises(InputError, match="belongs to a metric"):
        StopRule("accuracy")
