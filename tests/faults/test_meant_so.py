"""What is done on purpose and is not a fault: copies, agents, several models, several heads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from made_evidence import QUANTITIES, TORCH, findings_in, graph, trace
from reenact.faults.evidence import Evidence
from reenact.faults.observation import Certainty
from reenact.faults.registry import detector
from reenact.probe.trace import (
    Behaviour,
    Columns,
    Event,
    Experiments,
    ParameterFacts,
)
from reenact.program.graph import (
    TaskType,
)
from reenact.testing.faults import evidence_of, findings

GROWING = [1.0 + step / 10 for step in range(60)]
TARGET = (
    ParameterFacts("Net.0.weight", (3, 8), True, True),
    ParameterFacts("Copy.0.weight", (3, 8), True, False),
)


def test_a_target_network_is_not_forgotten_and_its_loss_may_grow() -> None:
    learns = Evidence(trace=trace(GROWING))
    assert findings_in("RE019", learns)
    bootstrapped = Evidence(trace=trace(GROWING, parameter_facts=TARGET))
    assert bootstrapped.copies == {"Copy.0.weight"}
    assert findings_in("RE013", bootstrapped) == ()
    assert findings_in("RE019", bootstrapped) == ()


def test_weights_that_no_optimizer_has_and_that_copy_nothing_are_forgotten() -> None:
    other = (TARGET[0], ParameterFacts("Head.1.weight", (5, 8), True, False))
    (found,) = findings_in("RE013", Evidence(trace=trace(GROWING, parameter_facts=other)))
    assert "Head.1.weight" in found.saw


@pytest.mark.parametrize(
    ("graded", "present", "line"),
    [(True, 0.0, 3), (False, 0.0, None), (True, 1.0, None)],
)
def test_a_head_that_takes_the_place_of_one_that_an_optimizer_holds(
    graded: bool, present: float, line: int | None
) -> None:
    """An average gets no gradient; a target network may, but then so does what learns."""
    made = (
        ParameterFacts("head.weight", (3, 8), True, True),
        ParameterFacts("head.weight", (3, 8), True, False, graded),
    )
    rows = [[step, 0, 1.0 if step < 5 else present] for step in range(10)]
    run = trace(GROWING, parameter_facts=made)
    run = replace(
        run,
        parameters=Columns(("step", "parameter", "grad_present"), np.array(rows, dtype=float)),
    )
    text = "model = Net()\noptimizer = Adam(model.parameters())\nmodel.head = nn.Linear(8, 3)\n"
    found = findings_in("RE013", replace(evidence_of(text, run=False), trace=run))
    assert [one.place.line for one in found if one.place is not None] == ([line] if line else [])


@pytest.mark.parametrize(
    ("name", "last", "strong"),
    [("SGD", 0.3, False), ("SGD", 1.0, True), ("Adam", 0.3, True)],
)
def test_a_high_rate_of_plain_sgd_that_settles_is_none(
    name: str, last: float, strong: bool
) -> None:
    kept = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    assert kept.optimizer is not None
    run = trace(
        [1.1] * 10 + [last] * 40,
        graph=replace(kept, optimizer=replace(kept.optimizer, name=name)),
    )
    run.steps.rows[:, run.steps.columns.index("learning_rate")] = 10.0
    (found,) = findings_in("UM005", replace(evidence_of("import torch\n", run=False), trace=run))
    assert (found.certainty is Certainty.STRONG) is strong


@pytest.mark.parametrize(("least", "count"), [(2.3, 1), (2.0, 0)])
def test_quantities_beside_a_table_that_is_looked_up_are_no_symbols(
    least: float, count: int
) -> None:
    kept = graph(TaskType.REGRESSION, "mse", 1)
    time = replace(kept.layers[0], name="time", type="Embedding")
    inputs = replace(QUANTITIES, role="input", mean=138.0, std=124.0, minimum=least, maximum=556.3)
    run = trace([1.0] * 40, graph=replace(kept, layers=(time, *kept.layers)), data=(inputs,))
    assert len(findings_in("RE005", Evidence(trace=run))) == count


@pytest.mark.parametrize(("padded", "count"), [(True, 1), (False, 0)])
def test_padding_that_was_added_counts_where_the_program_pads(padded: bool, count: int) -> None:
    kept = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    attends = replace(kept.layers[0], name="core", type="MultiheadAttention")
    events = (Event("padded", 1, 0, 0.0, {}, None),) if padded else ()
    run = trace([1.0] * 40, graph=replace(kept, layers=(attends, *kept.layers)), events=events)
    tried = Experiments(behaviour=(Behaviour("Net", padding_added=0.5),))
    assert len(findings_in("RE036", Evidence(trace=run, experiments=tried))) == count


@pytest.mark.parametrize(
    ("at_start", "ends"),
    [(0.0, "by 0.5 of its spread after the training"), (0.7, "by 0.7 of its spread")],
)
def test_what_moves_at_the_end_alone_is_reported_as_such(at_start: float, ends: str) -> None:
    start, end = (
        Behaviour("Net", mixing=at_start),
        Behaviour("Net", at_end=True, mixing=0.5),
    )
    tried = Experiments(behaviour=(start, end))
    (finding,) = findings_in("RE035", Evidence(trace=trace([1.0] * 40), experiments=tried))
    assert finding.saw.endswith(ends)


def test_the_loss_of_a_policy_gradient_may_grow() -> None:
    unknown = replace(graph(TaskType.UNKNOWN, "", 3), loss=None)
    assert findings_in("RE019", Evidence(trace=trace(GROWING, graph=unknown, data=()))) == ()
    assert findings_in("TC011", Evidence(trace=trace(GROWING, graph=unknown, data=()))) == ()


def test_where_two_models_learn_in_turns_nobody_knows_the_output() -> None:
    run = trace([1.0] * 20)
    turns = np.array(run.steps.rows)
    turns[:, run.steps.columns.index("optimizer")] = np.arange(20) % 2
    both = Evidence(trace=replace(run, steps=Columns(run.steps.columns, turns)))
    assert Evidence(trace=run).output is not None
    assert both.output is None


def test_one_of_several_heads_may_end_in_a_softmax() -> None:
    heads = TORCH.replace(
        "model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), {output})",
        "model = nn.Sequential(nn.Linear(8, 16), nn.Softmax(dim=1), nn.Linear({taken}, 3))",
    )
    assert findings(detector("RE041"), heads.format(taken=16, loss="CrossEntropyLoss"))
    assert findings(detector("RE041"), heads.format(taken=9, loss="CrossEntropyLoss")) == ()


def test_the_loss_of_a_program_that_acts_may_grow() -> None:
    text = TORCH.format(output="nn.Linear(16, 3)", loss="CrossEntropyLoss")
    learns = replace(evidence_of(text, run=False), trace=trace(GROWING))
    assert findings_in("TC011", learns)
    acts = replace(evidence_of(f"import gymnasium as gym\n{text}", run=False), trace=trace(GROWING))
    assert findings_in("TC011", acts) == ()


def test_a_model_of_keras_that_was_only_made_is_not_forgotten() -> None:
    made = tuple(
        ParameterFacts(f"{name}/kernel", (8, width), True, name == "dense_1")
        for name, width in (("dense", 16), ("dense_1", 3), ("dense_2", 5))
    )
    passed = Columns(("step", "layer", "phase"), np.array([[0, 1, 0], [0, 2, 0]], dtype=float))
    kept = graph(TaskType.MULTI_CLASS, "cross_entropy", 3, framework="keras")
    names = ("dense", "dense_1", "dense_2")
    run = trace([1.0] * 20, graph=kept, parameter_facts=made, layers=passed, layer_names=names)
    (found,) = findings_in("RE013", Evidence(trace=run))
    assert "dense_2/kernel: never" in found.saw
    assert "dense/kernel" not in found.saw
