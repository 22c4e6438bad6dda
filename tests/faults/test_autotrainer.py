"""The features of the monitor, and outputs and losses beside the task, on evidence made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.facts.progress import Progress, gradient_trouble, lost, progress
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding
from reenact.faults.registry import detector
from reenact.probe.inject.reenact_probe.folder import LAYER, PARAMETER, STEP
from reenact.probe.trace import Columns, Trace, no_rows
from reenact.program.graph import Layer, LossFacts, ModelGraph, TaskType, TensorFacts


def curve(*values: float) -> Progress:
    return Progress(np.array(values), np.empty(0), "accuracy")


def made(
    last: str | None,
    loss: str,
    task: TaskType,
    *,
    width: int = 3,
    logits: bool = False,
    output: dict[str, float] | None = None,
    losses: tuple[float, ...] = (1.0,),
    nan: float = 0.0,
) -> Evidence:
    """A model of one dense layer, one step an epoch; `output` is what was measured of it."""
    layer = Layer("out", "Dense", None, ((None, 4),), (None, width), last, {"units": width}, ())
    facts = LossFacts(loss, logits, {}, None)
    inputs = TensorFacts("train", "input", (None, 4), "f", -1, 1, 0.0, 1.0, nan, 0, None, None, 9)
    graph = ModelGraph("keras", "Sequential", (layer,), facts, None, (inputs,), task, 9, 9, 9)
    steps = np.full((len(losses), len(STEP)), np.nan)
    for column, value in {
        "step": range(len(losses)),
        "epoch": range(len(losses)),
        "loss": losses,
    }.items():
        steps[:, STEP.index(column)] = value
    steps[:, STEP.index("optimizer")] = 0
    rows = no_rows(LAYER)
    if output is not None:
        row = [
            {"step": 0.0, "layer": 0.0, "phase": 0.0, **output}.get(name, np.nan) for name in LAYER
        ]
        rows = Columns(LAYER, np.array([row]))
    trace = Trace(
        Columns(STEP, steps),
        rows,
        no_rows(PARAMETER),
        ("out",),
        (),
        (),
        (),
        graph,
        (inputs,),
        (),
        None,
        True,
        1.0,
        0.0,
        (),
    )
    return Evidence(trace=trace)


def found(code: str, evidence: Evidence) -> tuple[Finding, ...]:
    return run_detectors((detector(code),), evidence)


def test_drops_count_falls_from_a_peak_to_the_valley_behind() -> None:
    assert curve(0.5, 0.6, 0.5, 0.7, 0.69, 0.6, 0.8).drops == 2
    assert curve(0.5, 0.6, 0.59, 0.7).drops == 0
    assert curve(0.9, 0.5).drops == 1
    assert curve().drops == 0


def test_restless_needs_a_fifth_of_the_epochs_and_two_drops() -> None:
    assert curve(0.5, 0.4, 0.5, 0.4, 0.5).restless
    assert not curve(0.5, 0.4, 0.5).restless
    assert not curve(*[0.5, 0.4] * 2, *np.linspace(0.4, 0.9, 20)).restless


def test_slow_is_no_gain_in_any_epoch_unless_it_is_good_already() -> None:
    assert curve(0.50, 0.505, 0.51, 0.51).slow
    assert not curve(0.50, 0.55, 0.55).slow
    assert not curve(0.97, 0.971, 0.972).slow
    assert not curve(0.5, 0.5).slow
    assert not Progress(np.array([0.5, 0.5, 0.5]), np.array([0.5, 0.6, 0.6]), "accuracy").slow


def test_the_share_of_the_first_loss_that_is_gone_stands_for_the_accuracy_of_a_regression() -> None:
    evidence = made(None, "mean_squared_error", TaskType.REGRESSION, losses=(4.0, 2.0, 1.0))
    so_far = progress(evidence)
    assert so_far.train.tolist() == [0.0, 0.5, 0.75]
    assert so_far.reached
    assert not so_far.slow
    assert gradient_trouble(evidence) is None


def test_a_large_loss_is_an_explosion_for_classes_and_none_for_numbers() -> None:
    losses = (1.0, 5e3, 2.0)
    assert lost(
        made("softmax", "categorical_crossentropy", TaskType.MULTI_CLASS, losses=losses)
    ) == (
        "the loss reaches 5000",
        1,
    )
    assert lost(made(None, "mean_squared_error", TaskType.REGRESSION, losses=losses)) is None


def test_nan_among_the_inputs_is_abnormal_data_and_no_explosion() -> None:
    losses = (1.0, float("inf"))
    evidence = made(
        "softmax",
        "categorical_crossentropy",
        TaskType.MULTI_CLASS,
        losses=losses,
        nan=0.2,
    )
    assert not found("AT002", evidence)
    assert found("AT008", evidence)[0].fault is FaultType.CPP


@pytest.mark.parametrize(
    ("last", "loss", "task", "settings"),
    [
        ("softmax", "categorical_crossentropy", TaskType.MULTI_CLASS, {}),
        (
            None,
            "sparse_categorical_crossentropy",
            TaskType.MULTI_CLASS,
            {"logits": True},
        ),
        (None, "cross_entropy", TaskType.MULTI_CLASS, {"logits": True}),
        ("sigmoid", "binary_crossentropy", TaskType.BINARY, {"width": 1}),
        ("softmax", "binary_crossentropy", TaskType.BINARY, {"width": 2}),
        ("sigmoid", "categorical_crossentropy", TaskType.MULTI_LABEL, {}),
        (None, "mean_squared_error", TaskType.REGRESSION, {"width": 1}),
        ("sigmoid", "mean_squared_error", TaskType.REGRESSION, {}),
        (
            None,
            "categorical_crossentropy",
            TaskType.MULTI_CLASS,
            {"output": {"minimum": 0.0, "maximum": 0.9, "row_sum": 1.0}},
        ),
    ],
)
def test_an_output_that_fits_its_loss_is_let_alone(
    last: str | None, loss: str, task: TaskType, settings: dict[str, object]
) -> None:
    assert not found("AT006", made(last, loss, task, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("last", "loss", "task", "fault", "settings"),
    [
        (None, "categorical_crossentropy", TaskType.MULTI_CLASS, FaultType.ACH, {}),
        ("relu", "binary_crossentropy", TaskType.BINARY, FaultType.ACH, {"width": 1}),
        (
            "softmax",
            "mean_squared_error",
            TaskType.REGRESSION,
            FaultType.ACH,
            {"width": 1},
        ),
        (
            "softmax",
            "cross_entropy",
            TaskType.MULTI_CLASS,
            FaultType.AAL,
            {"logits": True},
        ),
        (
            "sigmoid",
            "binary_cross_entropy_with_logits",
            TaskType.BINARY,
            FaultType.AAL,
            {"logits": True},
        ),
        (
            None,
            "nll",
            TaskType.MULTI_CLASS,
            FaultType.ACH,
            {"output": {"minimum": -3.0, "maximum": 2.0}},
        ),
    ],
)
def test_an_output_that_does_not_fit_its_loss_is_named(
    last: str | None,
    loss: str,
    task: TaskType,
    fault: FaultType,
    settings: dict[str, object],
) -> None:
    (finding,) = found("AT006", made(last, loss, task, **settings))  # type: ignore[arg-type]
    assert (finding.fault, finding.layer) == (fault, "out")


@pytest.mark.parametrize(
    ("loss", "task", "width", "fires"),
    [
        ("mean_squared_error", TaskType.MULTI_CLASS, 3, True),
        ("binary_crossentropy", TaskType.MULTI_CLASS, 3, True),
        ("categorical_crossentropy", TaskType.BINARY, 1, True),
        ("categorical_crossentropy", TaskType.BINARY, 2, False),
        ("binary_crossentropy", TaskType.BINARY, 1, False),
        ("mean_absolute_error", TaskType.REGRESSION, 1, False),
        ("binary_crossentropy", TaskType.MULTI_LABEL, 3, False),
        ("mean_squared_error", TaskType.UNKNOWN, 3, False),
    ],
)
def test_the_task_decides_whether_a_loss_is_improper(
    loss: str, task: TaskType, width: int, fires: bool
) -> None:
    assert bool(found("AT007", made("softmax", loss, task, width=width))) is fires
