"""The metric that judges: held-out before seen, a score before a loss, the same whatever a
patch does.
"""

from __future__ import annotations

import math

import pytest

from reenact.errors import InputError
from reenact.probe.outcome import OutcomeKind
from reenact.program.graph import TaskType
from reenact.trials.metric import Measure, choose_measure
from reenact.trials.trial import Outcome


def logged(*names: str, source: str = "keras", value: float = 0.5) -> Outcome:
    return Outcome(
        OutcomeKind.FINISHED,
        3,
        metrics=dict.fromkeys(names, value),
        sources=dict.fromkeys(names, source),
    )


CLASSES, REGRESSION = TaskType.MULTI_CLASS, TaskType.REGRESSION


@pytest.mark.parametrize(
    ("names", "task", "expected"),
    [
        (
            ("loss", "accuracy", "val_loss", "val_accuracy", "test_accuracy"),
            CLASSES,
            "test_accuracy",
        ),
        (("loss", "accuracy", "val_loss", "val_accuracy"), CLASSES, "val_accuracy"),
        (("loss", "binary_accuracy", "step_loss"), TaskType.BINARY, "binary_accuracy"),
        (("train_accuracy", "val_precision", "val_f1"), CLASSES, "val_f1"),
        (("train_accuracy", "test_loss"), CLASSES, "train_accuracy"),
        (("val_loss", "val_mae", "val_mse", "mae"), REGRESSION, "val_mae"),
        (("val_loss", "test_r2", "val_mae"), REGRESSION, "test_r2"),
        (("val_accuracy", "val_loss"), REGRESSION, "val_loss"),
        (("loss", "val_out_accuracy"), None, "val_out_accuracy"),
        (("loss", "step_loss", "val_loss"), None, "val_loss"),
        (("step_loss",), TaskType.UNKNOWN, "step_loss"),
        (("test_mean_absolute_error", "loss"), None, "test_mean_absolute_error"),
    ],
)
def test_the_best_there_is(names: tuple[str, ...], task: TaskType | None, expected: str) -> None:
    for order in (names, names[::-1]):
        assert choose_measure(logged(*order), task).name == expected


@pytest.mark.parametrize(
    ("name", "larger", "loss"),
    [
        ("val_accuracy", True, False),
        ("test_r2", True, False),
        ("test_mae", False, False),
        ("val_root_mean_squared_error", False, False),
        ("test_error", False, False),
        ("val_loss", False, True),
        ("step_loss", False, True),
    ],
)
def test_which_way_is_better(name: str, larger: bool, loss: bool) -> None:
    measure = choose_measure(logged(name))
    assert (measure.larger_is_better, measure.is_loss, measure.source) == (
        larger,
        loss,
        "keras",
    )


def test_the_users_choice_comes_first_and_must_be_there() -> None:
    seen = logged("val_accuracy", "loss")
    assert choose_measure(seen, CLASSES, "loss") == Measure("loss", "keras", False, True)
    with pytest.raises(InputError, match="loss, val_accuracy"):
        choose_measure(seen, CLASSES, "f1")


def test_without_any_metric_there_is_a_sentence() -> None:
    with pytest.raises(InputError, match="No metric was found"):
        choose_measure(logged("learning_rate"))


def test_reading_an_outcome() -> None:
    measure = choose_measure(logged("val_accuracy"))
    assert measure.read(logged("val_accuracy", value=0.75)) == 0.75
    assert measure.read(logged("val_accuracy", source="output")) is None, (
        "another source is another number"
    )
    assert measure.read(logged("val_accuracy", value=math.nan)) is None
    assert measure.read(logged("loss")) is None
    assert measure.score(logged("loss")) == -math.inf
    assert measure.read(logged("val_accuracy", value=math.inf)) == math.inf
