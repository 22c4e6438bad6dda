"""The decision tree branch by branch, and outputs beside losses and labels, on evidence made by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.facts import advice as tree
from reenact.faults.fault_type import FaultType
from reenact.faults.finding import Finding
from reenact.faults.registry import detector
from reenact.probe.inject.reenact_probe.folder import LAYER, PARAMETER, STEP
from reenact.probe.trace import Columns, ParameterFacts, Trace, no_rows
from reenact.program.graph import (
    Layer,
    LossFacts,
    ModelGraph,
    TaskType,
    TensorFacts,
    WeightFacts,
)
from reenact.program.program import program_from_text
from reenact.program.static_graph import static_graph

TEXT = """
import keras
model = keras.Sequential([keras.layers.Dense(8, activation="sigmoid"), keras.layers.Dense(3)])
model.compile(keras.optimizers.SGD(0.5), "sparse_categorical_crossentropy")
model.fit(x, y, epochs=2)
"""


def data(role: str, low: float, high: float, **facts: float) -> TensorFacts:
    mean, std = facts.get("mean", (low + high) / 2), facts.get("std", (high - low) / 4)
    return TensorFacts(
        "train",
        role,
        (None, 4),
        "float32",
        low,
        high,
        mean,
        std,
        facts.get("nan", 0.0),
        0,
        None,
        None,
        10,
    )


def dense(name: str, activation: str | None, std: float = 0.3) -> Layer:
    kernel = WeightFacts("kernel", (4, 8), True, 0.0, std, -1.0, 1.0, f"{name}/kernel")
    return Layer(
        name,
        "Dense",
        None,
        ((None, 4),),
        (None, 8),
        activation,
        {"units": 8},
        (kernel,),
    )


def made(
    *,
    last: str | None = None,
    loss: str = "sparse_categorical_crossentropy",
    logits: bool = False,
    task: TaskType = TaskType.MULTI_CLASS,
    inputs: TensorFacts | None = None,
    labels: TensorFacts | None = None,
    ratio: float = 1e-3,
    std: float = 0.3,
) -> Evidence:
    """A model of two dense layers whose steps move each kernel by `ratio` of its size."""
    seen = (inputs or data("input", -1, 1), labels or data("label", 0, 2))
    layers = (dense("dense", "sigmoid", std), dense("dense_1", last))
    facts = LossFacts(loss, logits, {}, None)
    graph = ModelGraph("keras", "Sequential", layers, facts, None, seen, task, 10, 64, 64)
    rows = np.full((2, len(PARAMETER)), np.nan)
    for column, value in {"step": 0, "grad_norm": 1, "update_ratio": ratio}.items():
        rows[:, PARAMETER.index(column)] = value
    rows[:, PARAMETER.index("parameter")] = (0, 1)
    steps = np.full((1, len(STEP)), np.nan)
    steps[:, STEP.index("step")] = 0
    names = tuple(ParameterFacts(f"{layer.name}/kernel", (4, 8), True, True) for layer in layers)
    trace = Trace(
        Columns(STEP, steps),
        no_rows(LAYER),
        Columns(PARAMETER, rows),
        ("dense", "dense_1"),
        names,
        (),
        (),
        graph,
        seen,
        (),
        None,
        True,
        1.0,
        0.0,
        (),
    )
    program = program_from_text(TEXT)
    return Evidence(program, static_graph(program), trace)


def found(code: str, evidence: Evidence) -> tuple[Finding, ...]:
    return run_detectors((detector(code),), evidence)


def test_nan_among_the_inputs_comes_before_everything_else() -> None:
    evidence = made(inputs=data("input", 0, 255, nan=0.1), std=0.0, ratio=5.0)
    assert tree.for_numbers(evidence, evidence.layers[0], 0).fault is FaultType.CPP
    assert tree.for_invalid(evidence, 0).text.startswith("10.00%")


def test_weights_of_no_variance_are_named_with_their_layer_and_an_initialiser() -> None:
    advice = tree.for_stillness(made(std=0.0), None)
    assert advice.fault is FaultType.WCI
    assert advice.layer is not None
    assert advice.layer.name == "dense"
    assert advice.values[0] == "he_normal"


@pytest.mark.parametrize(("ratio", "side"), [(0.5, "lower"), (1e-7, "raise")])
def test_steps_out_of_range_accuse_the_learning_rate(ratio: float, side: str) -> None:
    advice = tree.for_no_progress(made(ratio=ratio))
    assert advice.fault is FaultType.HLR
    assert side in advice.text
    assert advice.values
    assert all(
        (value < 0.5) is (side == "lower") for value in advice.values if isinstance(value, float)
    )


def test_raw_inputs_come_before_the_learning_rate_and_standardised_ones_are_not_raw() -> None:
    assert (
        tree.for_no_progress(made(inputs=data("input", 0, 255), ratio=0.5)).fault is FaultType.CPP
    )
    standard = data("input", -3.4, 3.2, mean=0.0, std=1.0)
    assert tree.for_no_progress(made(inputs=standard)).fault is FaultType.OCH


def test_an_invalid_loss_points_to_an_output_that_is_no_distribution() -> None:
    advice = tree.for_invalid(made(), 0)
    assert advice.fault is FaultType.ACH
    assert advice.values == ("softmax",)
    assert tree.for_invalid(made(last="softmax"), 0).fault is FaultType.OCH


def test_vanishing_points_to_a_flat_hidden_activation() -> None:
    evidence = made()
    advice = tree.for_vanishing(evidence, evidence.layers[0])
    assert advice.fault is FaultType.ACH
    assert advice.values[0] == "relu"


def test_gradients_that_are_no_numbers_accuse_a_loss_for_numbers_under_classes() -> None:
    evidence = made(loss="mean_squared_error")
    assert tree.for_gradients(evidence, evidence.layers[1]).fault is FaultType.LCH
    evidence = made()
    assert tree.for_gradients(evidence, evidence.layers[1]).fault is FaultType.ACH


def test_a_linear_output_under_a_loss_of_probabilities_wants_a_softmax() -> None:
    (finding,) = found("DD001", made())
    assert (finding.fault, finding.layer, finding.suggestions[0].new) == (
        FaultType.ACH,
        "dense_1",
        "softmax",
    )


@pytest.mark.parametrize(
    "settings",
    [{"last": "softmax"}, {"logits": True}, {"loss": "cross_entropy", "logits": True}],
    ids=str,
)
def test_a_softmax_is_never_asked_of_a_model_that_has_it_or_needs_none(
    settings: dict[str, object],
) -> None:
    assert not found("DD001", made(**settings))  # type: ignore[arg-type]


def test_labels_below_zero_under_a_sigmoid_and_a_binary_loss_are_wrongly_encoded() -> None:
    signs = {"loss": "binary_crossentropy", "last": "sigmoid", "task": TaskType.BINARY}
    (finding,) = found("DD001", made(**signs, labels=data("label", -1, 1)))  # type: ignore[arg-type]
    assert finding.fault is FaultType.CPP
    assert not found("DD001", made(**signs, labels=data("label", 0, 1)))  # type: ignore[arg-type]


def test_labels_of_another_loss_do_not_lie_outside_the_output() -> None:
    """Classes from 0 to 2 beside a loss that compares three shares a row."""
    classes = replace(data("label", 0, 2), shape=(None,))
    evidence = made(loss="mean_squared_error", last="softmax", labels=classes)
    assert len(found("DD001", evidence)) == 1
    graph = evidence.graph
    assert graph is not None
    assert graph.loss is not None
    assert evidence.trace is not None
    shares = replace(graph, loss=replace(graph.loss, compared=((16, 3), (16, 3))))
    beside = replace(evidence, trace=replace(evidence.trace, graph=shares))
    assert not found("DD001", beside)
    assert not found("RE004", beside)


def test_a_regressor_with_a_linear_output_can_reach_any_label() -> None:
    plain = {
        "loss": "mean_squared_error",
        "task": TaskType.REGRESSION,
        "labels": data("label", -50, 90),
    }
    assert not found("DD001", made(**plain))  # type: ignore[arg-type]
    (finding,) = found("DD001", made(**plain, last="relu"))  # type: ignore[arg-type]
    assert finding.fault is FaultType.ACH


def test_a_model_without_layers_breaks_no_question() -> None:
    bare = replace(made(), static=None, trace=None)
    assert tree.for_no_progress(bare).fault is FaultType.OCH
    assert tree.for_invalid(bare, None).fault is FaultType.OCH
