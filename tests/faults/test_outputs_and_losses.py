"""Outputs, losses, labels and penalties of our own rules that their examples do not reach: texts that are
only read, and evidence made by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_evidence import (
    KERAS,
    LABELS,
    ONE_HOT,
    QUANTITIES,
    TORCH,
    YES_OR_NO,
    findings_in,
    graph,
    trace,
)
from reenact.faults.evidence import Evidence
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import detector
from reenact.program.graph import (
    TaskType,
    TensorFacts,
)
from reenact.testing.faults import evidence_of, findings

LOGITS = "keras.losses.SparseCategoricalCrossentropy(from_logits=True)"


@pytest.mark.parametrize(
    ("text", "output", "loss"),
    [
        (KERAS, 'layers.Dense(3, activation="softmax")', '"categorical_crossentropy"'),
        (
            KERAS,
            'layers.Dense(3), layers.Activation("softmax")',
            '"sparse_categorical_crossentropy"',
        ),
        (KERAS, "layers.Dense(3), layers.Softmax()", '"categorical_crossentropy"'),
        (KERAS, "layers.Dense(3)", LOGITS),
        (KERAS, 'layers.Dense(1, activation="sigmoid")', '"binary_crossentropy"'),
        (KERAS, 'layers.Dense(5, activation="sigmoid")', '"binary_crossentropy"'),
        (KERAS, "layers.Dense(1)", '"mse"'),
        (KERAS, 'layers.Dense(3, activation="softmax")', '"mse"'),
        (TORCH, "nn.Linear(16, 3)", "CrossEntropyLoss"),
        (TORCH, "nn.Linear(16, 3), nn.LogSoftmax(dim=1)", "NLLLoss"),
        (TORCH, "nn.Linear(16, 3), nn.LogSoftmax(dim=1)", "CrossEntropyLoss"),
        (TORCH, "nn.Linear(16, 1), nn.Sigmoid()", "BCELoss"),
        (TORCH, "nn.Linear(16, 1)", "BCEWithLogitsLoss"),
        (TORCH, "nn.Linear(16, 1)", "MSELoss"),
    ],
)
@pytest.mark.parametrize("code", ["RE001", "RE002"])
def test_outputs_that_fit_their_loss_are_left_alone(
    code: str, text: str, output: str, loss: str
) -> None:
    assert findings(detector(code), text.format(output=output, loss=loss)) == ()


@pytest.mark.parametrize(
    ("text", "output", "loss", "code", "fault", "value"),
    [
        (
            KERAS,
            "layers.Dense(3)",
            '"categorical_crossentropy"',
            "RE001",
            FaultType.ARM,
            "softmax",
        ),
        (
            KERAS,
            'layers.Dense(3, activation="relu")',
            '"categorical_crossentropy"',
            "RE001",
            FaultType.ACH,
            "softmax",
        ),
        (
            KERAS,
            'layers.Dense(1, activation="tanh")',
            '"binary_crossentropy"',
            "RE001",
            FaultType.ACH,
            "sigmoid",
        ),
        (
            KERAS,
            'layers.Dense(1, activation="softmax")',
            '"mse"',
            "RE001",
            FaultType.ACH,
            "linear",
        ),
        (
            KERAS,
            'layers.Dense(3, activation="softmax")',
            LOGITS,
            "RE002",
            FaultType.AAL,
            "linear",
        ),
        (
            TORCH,
            "nn.Linear(16, 3), nn.ReLU()",
            "CrossEntropyLoss",
            "RE001",
            FaultType.AAL,
            "linear",
        ),
        (
            TORCH,
            "nn.Linear(16, 3), nn.Softmax(dim=1)",
            "NLLLoss",
            "RE001",
            FaultType.ACH,
            "log_softmax",
        ),
        (
            TORCH,
            "nn.Linear(16, 1), nn.Sigmoid()",
            "BCEWithLogitsLoss",
            "RE002",
            FaultType.AAL,
            "linear",
        ),
    ],
)
def test_outputs_that_do_not_fit(
    text: str, output: str, loss: str, code: str, fault: FaultType, value: str
) -> None:
    (found,) = findings(detector(code), text.format(output=output, loss=loss))
    assert found.fault is fault
    assert found.suggestions[0].new == value


def test_weight_decay_is_judged_by_its_optimiser() -> None:
    text = TORCH.format(output="nn.Linear(16, 3)", loss="CrossEntropyLoss")
    strong = text.replace("lr=0.01)", "lr=0.01, weight_decay=0.5)")
    (found,) = findings(detector("RE016"), strong)
    assert found.fault is FaultType.HWD
    assert findings(detector("RE016"), strong.replace("optim.Adam", "optim.AdamW")) == ()


@pytest.mark.parametrize(
    ("penalty", "expected"),
    [
        ("keras.regularizers.l2(0.5)", True),
        ("keras.regularizers.L1L2(l1=0.5, l2=1e-4)", True),
        ("keras.regularizers.l2(l=0.5)", True),
        ("keras.regularizers.l2(l2=1e-4)", False),
        ("keras.regularizers.L2(1e-4)", False),
        ("keras.regularizers.L1L2(l1=1e-5, l2=1e-4)", False),
    ],
)
def test_penalties_are_read_from_the_text(penalty: str, expected: bool) -> None:
    output = f'layers.Dense(3, activation="softmax", kernel_regularizer={penalty})'
    text = KERAS.format(output=output, loss='"sparse_categorical_crossentropy"')
    assert [found.fault for found in findings(detector("RE016"), text)] == (
        [FaultType.RAW] if expected else []
    )


def test_two_models_are_no_bottleneck() -> None:
    text = """
from torch import nn
maker = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
judge = nn.Sequential(nn.Linear(2, 30), nn.ReLU(), nn.Linear(30, 1))
"""
    assert findings(detector("RE028"), text) == ()


@pytest.mark.parametrize(
    "layers",
    [
        "nn.Linear(20, 4), nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 20)",
        "nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 20)",
    ],
    ids=["narrow middle of an autoencoder", "bent"],
)
def test_layers_that_may_be_linear(layers: str) -> None:
    text = TORCH.replace("nn.Linear(8, 16), nn.ReLU(), {output}", layers).replace(
        "{loss}", "MSELoss"
    )
    assert findings(detector("RE027"), text) == ()


@pytest.mark.parametrize(
    ("task", "loss", "labels", "width", "framework", "value"),
    [
        (TaskType.MULTI_CLASS, "mse", ONE_HOT, 3, "keras", "categorical_crossentropy"),
        (
            TaskType.MULTI_CLASS,
            "mse",
            LABELS,
            3,
            "keras",
            "sparse_categorical_crossentropy",
        ),
        (
            TaskType.MULTI_CLASS,
            "binary_crossentropy",
            ONE_HOT,
            3,
            "keras",
            "categorical_crossentropy",
        ),
        (TaskType.BINARY, "l1", YES_OR_NO, 1, "torch", "BCEWithLogitsLoss"),
        (TaskType.BINARY, "cross_entropy", YES_OR_NO, 1, "torch", "BCEWithLogitsLoss"),
        (
            TaskType.REGRESSION,
            "binary_cross_entropy",
            QUANTITIES,
            1,
            "torch",
            "MSELoss",
        ),
        (TaskType.BINARY, "soft_margin", YES_OR_NO, 1, "torch", "BCEWithLogitsLoss"),
    ],
)
def test_a_loss_of_another_task(
    task: TaskType,
    loss: str,
    labels: TensorFacts,
    width: int,
    framework: str,
    value: str,
) -> None:
    from reenact.faults.output.wrong_loss_for_task import _better

    run = trace([1.0] * 20, graph=graph(task, loss, width, framework=framework), data=(labels,))
    (found,) = findings_in("RE003", Evidence(trace=run))
    assert found.fault is FaultType.LCH
    assert _better(Evidence(trace=run), labels, width) == (value,)


@pytest.mark.parametrize(
    ("task", "loss", "labels", "width"),
    [
        (TaskType.MULTI_CLASS, "cross_entropy", LABELS, 3),
        (TaskType.BINARY, "binary_cross_entropy_with_logits", YES_OR_NO, 1),
        (TaskType.BINARY, "cross_entropy", YES_OR_NO, 2),
        (TaskType.REGRESSION, "mse", QUANTITIES, 1),
        (TaskType.MULTI_LABEL, "binary_cross_entropy", YES_OR_NO, 5),
        (TaskType.MULTI_CLASS, "kl_divergence", ONE_HOT, 3),
    ],
)
def test_a_loss_of_its_task(task: TaskType, loss: str, labels: TensorFacts, width: int) -> None:
    run = trace([1.0] * 20, graph=graph(task, loss, width), data=(labels,))
    assert findings_in("RE003", Evidence(trace=run)) == ()


@pytest.mark.parametrize(
    ("loss", "labels", "width", "fault"),
    [
        ("binary_cross_entropy", replace(QUANTITIES, maximum=5.0), 1, FaultType.CPP),
        ("cross_entropy", LABELS, 2, FaultType.LCN),
        (
            "cross_entropy",
            replace(LABELS, minimum=-1.0, class_values=(-1, 0, 1)),
            3,
            FaultType.CPP,
        ),
    ],
)
def test_labels_out_of_the_domain_of_a_loss(
    loss: str, labels: TensorFacts, width: int, fault: FaultType
) -> None:
    run = trace([1.0] * 20, graph=graph(TaskType.MULTI_CLASS, loss, width), data=(labels,))
    (found,) = findings_in("RE004", Evidence(trace=run))
    assert found.fault is fault


def test_labels_beside_a_loss_of_quantities_may_be_those_of_another_head() -> None:
    run = trace(
        [1.0] * 20,
        graph=graph(TaskType.BINARY, "binary_cross_entropy", 1),
        data=(QUANTITIES,),
    )
    for text, sure in (
        ("import torch\n", "proof"),
        ("import torch\nmass = torch.nn.MSELoss()\n", "hint"),
    ):
        (found,) = findings_in("RE004", replace(evidence_of(text, run=False), trace=run))
        assert found.certainty == sure


def test_ignored_labels_are_no_classes() -> None:
    labels = replace(LABELS, minimum=-100.0, class_values=(-100, 0, 1, 2))
    run = trace([1.0] * 20, data=(labels,))
    assert findings_in("RE004", Evidence(trace=run)) == ()
