"""What the detector sees: of hand-made traces, where every number can be worked out."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reenact.diagnosis.learned.features import features, matrix
from reenact.diagnosis.learned.monitored import STATISTICS
from reenact.faults.evidence import Evidence
from reenact.probe.trace import Columns, Metric, Trace, no_rows

STEPS = (
    "step",
    "epoch",
    "loss",
    "learning_rate",
    "batch_size",
    "backward_calls",
    "accuracy",
)
STATS = tuple(f"_{name}" for name in STATISTICS)


def trace(losses: list[float], accuracies: list[float], metrics: tuple[Metric, ...] = ()) -> Trace:
    """Two steps an epoch."""
    count = len(losses)
    rows = [
        [step, step // 2, loss, 0.01, 32, 1, logged]
        for step, loss, logged in zip(range(count), losses, accuracies, strict=True)
    ]
    return Trace(
        steps=Columns(STEPS, np.array(rows, dtype=float)),
        layers=no_rows(("step",)),
        parameters=no_rows(("step",)),
        layer_names=(),
        parameter_facts=(),
        metrics=metrics,
        events=(),
        graph=None,
        data=(),
        overlaps=(),
        crash=None,
        complete=True,
        seconds=1,
        probe_seconds=0,
        missing=(),
    )


def of(
    losses: list[float], accuracies: list[float], metrics: tuple[Metric, ...] = ()
) -> dict[str, float]:
    return features(Evidence(trace=trace(losses, accuracies, metrics)))


def test_names_hold_the_values_they_name() -> None:
    found = of([4, 2, 2, 1, 1, 0.5], [0.2, 0.2, 0.5, 0.5, 0.8, 0.8])
    assert found["loss_mean"] == pytest.approx((3 + 1.5 + 0.75) / 3)
    assert found["loss_max"] == 3
    assert found["loss_min"] == 0.75
    assert found["acc_median"] == 0.5
    assert found["acc_max"] == 0.8
    assert found["acc_sem"] == pytest.approx(np.std([0.2, 0.5, 0.8], ddof=1) / math.sqrt(3))
    assert found["not_converge_mean"] == pytest.approx(2 / 3)
    assert found["increase_loss_max"] == 0
    assert found["decrease_acc_max"] == 0


def test_a_rising_loss_and_a_falling_accuracy_are_flagged() -> None:
    found = of([1, 1, 2, 2, 4, 4], [0.9, 0.9, 0.5, 0.5, 0.1, 0.1])
    assert found["increase_loss_mean"] == pytest.approx(2 / 3)
    assert found["decrease_acc_mean"] == pytest.approx(2 / 3)
    assert found["loss_change"] == pytest.approx(math.log10(4))


def test_twenty_two_features_by_eight_statistics() -> None:
    found = of([1, 1, 1, 1, 1, 1], [0.5] * 6)
    monitored = [name for name in found if name.endswith("_skew")]
    assert len(monitored) == 22
    assert all(name[: -len("skew")] + other[1:] in found for name in monitored for other in STATS)


def test_nothing_is_ever_nan() -> None:
    found = of([math.nan, math.inf, 1e300, -1e300, math.nan, 0.0], [math.nan] * 6)
    assert all(math.isfinite(value) for value in found.values())
    assert found["nan_loss_max"] == 1
    assert list(found) == list(of([1] * 6, [0.5] * 6)) == list(features(Evidence()))


def test_what_the_program_tells_of_held_out_data_is_read_by_epoch() -> None:
    logged = tuple(
        Metric("val_accuracy", value, 2 * (epoch + 1), epoch, 0.0, "keras")
        for epoch, value in enumerate((0.3, 0.6, 0.9))
    )
    found = of([4, 2, 2, 1, 1, 0.5], [0.2, 0.2, 0.5, 0.5, 0.8, 0.8], logged)
    assert (found["val_acc_min"], found["val_acc_median"], found["val_acc_max"]) == (
        0.3,
        0.6,
        0.9,
    )


def test_a_training_without_accuracy_is_judged_by_the_loss_that_is_gone() -> None:
    found = of([4, 4, 2, 2, 1, 1], [math.nan] * 6)
    assert found["acc_max"] == 0.75
    assert found["accuracy_last"] == 0.75


def test_short_trainings_are_cut_into_slices() -> None:
    steps = [4.0, 3.0, 2.0, 1.0]
    assert of(steps, [0.5] * 4)["loss_max"] == 4.0


def test_a_matrix_has_the_columns_that_are_asked_for() -> None:
    assert matrix([{"b": 2.0, "a": 1.0}, {"a": 3.0}], ("a", "b")).tolist() == [
        [1, 2],
        [3, 0],
    ]
