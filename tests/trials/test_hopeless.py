"""The rule for hopeless trainings, and what they are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest

from contracts.executor import HEALTHY, program_in
from reenact.probe.outcome import OutcomeKind
from reenact.program.edit.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.program import read_program
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.hopeless import (
    baseline_from,
    is_hopeless,
    steps_factor,
    watched_metric,
)
from reenact.trials.metric import Measure
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Curve, Outcome, Trial

ACCURACY = Measure("test_accuracy", "output")


def curve(*values: float) -> Curve:
    return tuple((10 * number, value) for number, value in enumerate(values, start=1))


def outcome(**curves: Curve) -> Outcome:
    return Outcome(
        OutcomeKind.FINISHED,
        steps=100,
        metrics={name: points[-1][1] for name, points in curves.items()},
        sources=dict.fromkeys(curves, "output"),
        curves=curves,
    )


LEARNS = curve(0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.8, 0.8, 0.8)


def test_the_metric_that_judges_is_watched_or_one_of_its_kind() -> None:
    assert watched_metric(outcome(test_accuracy=LEARNS), ACCURACY) == "test_accuracy"
    late = outcome(
        test_accuracy=curve(0.8),
        train_accuracy=LEARNS,
        val_accuracy=LEARNS,
        val_loss=LEARNS,
    )
    assert watched_metric(late, ACCURACY) == "val_accuracy"
    assert watched_metric(outcome(test_accuracy=curve(0.8), val_loss=LEARNS), ACCURACY) == ""


def test_one_that_is_far_behind_and_flat_is_hopeless() -> None:
    base = baseline_from([outcome(test_accuracy=LEARNS)], ACCURACY, bounded=True)
    assert base is not None
    assert is_hopeless(curve(0.1, 0.1, 0.1, 0.1), base)
    assert not is_hopeless(curve(0.1, 0.1), base), "too early"
    assert not is_hopeless(curve(0.1, 0.2, 0.3, 0.5), base), "it gains"
    assert not is_hopeless(curve(0.6, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9), base), "it is better"
    assert not is_hopeless(curve(0.1, 0.1, 0.1, 0.1), base.for_steps(4)), (
        "steps of a longer training"
    )


def test_a_loss_is_smaller_when_better() -> None:
    falls = curve(*(1 / number for number in range(1, 11)))
    seen = outcome(test_accuracy=curve(0.8), step_loss=falls)
    base = baseline_from([seen], ACCURACY, bounded=True)
    assert base is not None
    assert base.is_loss
    assert is_hopeless(curve(*[2.0] * 6), base)
    assert not is_hopeless(curve(*[0.3] * 6), base)


def test_without_curves_there_is_nothing_to_compare_with() -> None:
    assert baseline_from([], ACCURACY, bounded=True) is None
    assert baseline_from([Outcome(OutcomeKind.CRASHED)], ACCURACY, bounded=True) is None
    assert baseline_from([outcome(test_accuracy=curve(0.8))], ACCURACY, bounded=True) is None


def test_other_epochs_and_batches_take_other_numbers_of_steps(tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", HEALTHY)
    epochs = next(one for one in hyperparameters_of(program) if one.kind is Kind.EPOCHS)
    assert steps_factor(program, Patch()) == 1
    assert steps_factor(program, Patch((Set(epochs.id, 6),))) == 2


STUCK = """\
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x.sum(1) > 0).long()
model = nn.Linear(8, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
for epoch in range(20):
    for rows in range(0, 256, 64):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows : rows + 64]), y[rows : rows + 64])
        loss.backward()
        optimizer.step()
    print(f"test accuracy: {(model(x).argmax(1) == y).float().mean().item():.4f}")
"""


@pytest.mark.parametrize("launcher", [(), ("env", "SOME=1")])
def test_a_hopeless_training_ends_early_and_says_so(
    pool: ProcessPool, tmp_path: Path, warm_interpreter: str, launcher: tuple[str, ...]
) -> None:
    program_in(tmp_path / "p", STUCK)
    command = [*launcher, warm_interpreter, "train.py"] if launcher else ["train.py"]
    program = read_program(command, tmp_path / "p")
    whole = pool.run([Trial(program, seed=1)])[0]
    base = baseline_from([whole], ACCURACY, bounded=True)
    rate = next(one for one in hyperparameters_of(program) if one.kind is Kind.LEARNING_RATE)
    back, on = (Patch((Set(rate.id, value),)) for value in (1e-9, 1.0))
    ended, better = pool.run([Trial(program, patch, 1, baseline=base) for patch in (back, on)])
    assert (ended.kind, ended.pruned) == (OutcomeKind.STOPPED, True), ended
    assert ended.stopped.startswith("hopeless compared with the unchanged program: test_accuracy")
    assert ended.steps < whole.steps == 80
    assert ACCURACY.score(ended) < ACCURACY.score(whole)
    assert (better.kind, better.stopped, better.steps) == (OutcomeKind.FINISHED, "", 80)


def test_a_training_beside_a_baseline_is_another_one(tmp_path: Path) -> None:
    program = program_in(tmp_path / "p", STUCK)
    base = baseline_from([outcome(test_accuracy=LEARNS)], ACCURACY, bounded=True)
    assert Trial(program, baseline=base).key != Trial(program).key
