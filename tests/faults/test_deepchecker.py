"""Branches of TheDeepChecker's rules that their examples do not reach, on runs made by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import detector
from reenact.probe.trace import (
    Columns,
    Experiments,
    Metric,
    OneBatch,
    ParameterFacts,
    Trace,
    no_rows,
)
from reenact.program.graph import LossFacts, ModelGraph, TaskType, TensorFacts

LABELS = TensorFacts(
    "train",
    "label",
    (None,),
    "int64",
    0.0,
    9.0,
    4.5,
    2.9,
    0.0,
    0,
    10,
    (30,) * 10,
    300,
    tuple(range(10)),
    True,
)
STEP = ("step", "epoch", "loss", "batch_size", "optimizer")
PARAMETER = (
    "step",
    "parameter",
    "update_mean_abs",
    "weight_mean_abs",
    "weight_tiny_share",
    "weight_negative_share",
)


def run(
    losses: list[float],
    sizes: list[float] | None = None,
    *,
    moved: float = 1e-3,
    negative: float = 0.5,
    accuracies: tuple[float, ...] = (),
    loss_name: str = "cross_entropy",
) -> Evidence:
    """A run of a model with one weight matrix whose every update has the size `moved`."""
    sizes = sizes or [16.0] * len(losses)
    steps = [
        [step, step // 10, loss, size, 0]
        for step, (loss, size) in enumerate(zip(losses, sizes, strict=True))
    ]
    moves = [[step, 0, moved, 1.0, 0.0, negative] for step in range(len(losses))]
    expected = [
        ("loss", float(np.mean(losses[10 * i : 10 * i + 10]))) for i in range(len(accuracies))
    ]
    metrics = [*expected, *(("accuracy", value) for value in accuracies)]
    graph = ModelGraph(
        "torch",
        "Net",
        (),
        LossFacts(loss_name, None, {}, None),
        None,
        (),
        TaskType.MULTI_CLASS,
        16,
        80,
        80,
    )
    trace = Trace(
        Columns(STEP, np.array(steps, dtype=float)),
        no_rows(("step", "layer", "phase")),
        Columns(PARAMETER, np.array(moves, dtype=float)),
        (),
        (ParameterFacts("0.weight", (10, 8), True, True),),
        tuple(
            Metric(name, value, 10 * i, i, 0.0, "user") for i, (name, value) in enumerate(metrics)
        ),
        (),
        graph,
        (LABELS,),
        (),
        None,
        True,
        1.0,
        0.1,
        (),
    )
    return Evidence(trace=trace)


def fires(code: str, evidence: Evidence) -> bool:
    return bool(run_detectors((detector(code),), evidence))


@pytest.mark.parametrize(
    ("first", "expected"),
    [(2.3, False), (4.0, False), (4.7, True), (0.0, True), (60.0, True)],
)
def test_the_first_loss_is_held_against_guessing(first: float, expected: bool) -> None:
    assert fires("TC002", run([first, *[2.0] * 20])) is expected


def test_the_first_loss_of_a_distance_says_nothing() -> None:
    assert not fires("TC002", run([60.0, *[2.0] * 20], loss_name="mse"))


@pytest.mark.parametrize(("per_row", "expected"), [(True, True), (False, False)])
def test_losses_that_follow_the_size_of_the_batch(per_row: bool, expected: bool) -> None:
    sizes = [40.0, 40.0, 40.0, 10.0] * 10
    losses = [size / 10 if per_row else 4.0 for size in sizes]
    assert fires("TC003", run(losses, sizes)) is expected


@pytest.mark.parametrize(
    ("moved", "code"), [(0.5, "TC005"), (1e-6, "TC006"), (0.0, "TC007"), (1e-3, None)]
)
def test_the_pace_of_the_weights(moved: float, code: str | None) -> None:
    evidence = run([2.0] * 30, moved=moved)
    expected = [one for one in ("TC005", "TC006", "TC007") if fires(one, evidence)]
    assert expected == ([code] if code else [])


@pytest.mark.parametrize(("negative", "expected"), [(0.5, False), (0.99, True)])
def test_weights_of_one_sign(negative: float, expected: bool) -> None:
    assert fires("TC009", run([2.0] * 30, negative=negative)) is expected


def test_a_loss_that_rests_after_a_fall_does_not_stall() -> None:
    fallen = [2.0] * 5 + [1.0] * 5 + [0.5] * 50
    assert not fires("TC010", run(fallen))
    assert fires("TC010", run([2.0, 2.02] * 30))


@pytest.mark.parametrize(
    ("losses", "expected"),
    [
        ([2.0 * 0.95**step for step in range(60)], False),
        ([2.0] * 10 + [1.0] * 10 + [5.0] * 60, True),
        ([2.0] * 30 + [math.nan] * 30, True),
        ([2.0] * 59 + [math.nan], False),
    ],
    ids=["falls", "climbs", "is lost", "one slip"],
)
def test_divergence(losses: list[float], expected: bool) -> None:
    found = run_detectors((detector("TC011"),), run(losses))
    assert bool(found) is expected
    assert all(one.fault is FaultType.HLR for one in found)


def test_loss_and_accuracy_move_together() -> None:
    falling = [3.0 - 0.03 * step for step in range(80)]
    assert not fires("TC012", run(falling, accuracies=tuple(0.1 + 0.1 * i for i in range(8))))
    assert fires("TC012", run(falling, accuracies=(0.2, 0.3, 0.1, 0.3, 0.1, 0.2, 0.3, 0.1)))


def test_a_model_that_ignores_its_inputs() -> None:
    learned = tuple(2 * 0.9**step for step in range(100))
    stuck = (0.69,) * 100
    for seen, blind, expected in (
        (learned, stuck, False),
        (stuck, stuck, True),
        (stuck, (), False),
    ):
        tried = Experiments(one_batch=OneBatch(100, seen, 0.9, blind))
        assert fires("TC004", Evidence(experiments=tried)) is expected
