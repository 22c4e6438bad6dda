"""The rule for hopeless trainings, and what they are compared with."""

from __future__ import annotations

from pathlib import Path

from contracts.executor import HEALTHY, program_in
from reenact.probe.outcome import OutcomeKind
from reenact.program.change import Set
from reenact.program.hyperparameter import Kind
from reenact.program.patch import Patch
from reenact.program.static_graph import hyperparameters_of
from reenact.trials.hopeless import baseline_from, is_hopeless, steps_factor, watched_metric
from reenact.trials.metric import Measure
from reenact.trials.trial import Curve, Outcome

ACCURACY = Measure("test_accuracy", "output")


def curve(*values: float) -> Curve:
    return tuple((10 * number, value) for number, value in enumerate(values, start=1))


def outcome(**curves: Curve) -> Outcome:
    return Outcome(
        OutcomeKind.FINISHED, steps=100, metrics={name: points[-1][1] for name, points in curves.items()},
        sources=dict.fromkeys(curves, "output"), curves=curves,
    )  # fmt: skip


LEARNS = curve(0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.8, 0.8, 0.8)


def test_the_metric_that_judges_is_watched_or_one_of_its_kind() -> None:
    assert watched_metric(outcome(test_accuracy=LEARNS), ACCURACY) == "test_accuracy"
    late = outcome(test_accuracy=curve(0.8), train_accuracy=LEARNS, val_accuracy=LEARNS, val_loss=LEARNS)
    assert watched_metric(late, ACCURACY) == "val_accuracy"
    assert watched_metric(outcome(test_accuracy=curve(0.8), val_loss=LEARNS), ACCURACY) == ""


def test_one_that_is_far_behind_and_flat_is_hopeless() -> None:
    base = baseline_from([outcome(test_accuracy=LEARNS)], ACCURACY, bounded=True)
    assert base is not None
    assert is_hopeless(curve(0.1, 0.1, 0.1, 0.1), base)
    assert not is_hopeless(curve(0.1, 0.1), base), "too early"
    assert not is_hopeless(curve(0.1, 0.2, 0.3, 0.5), base), "it gains"
    assert not is_hopeless(curve(0.6, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9), base), "it is better"
    assert not is_hopeless(curve(0.1, 0.1, 0.1, 0.1), base.for_steps(4)), "steps of a longer training"


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
