"""The course of a run, its start and its experiments, as our own rules read them: evidence made by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from made_evidence import (
    LABELS,
    QUANTITIES,
    TORCH,
    YES_OR_NO,
    findings_in,
    graph,
    trace,
)
from reenact.faults.detector import run_detectors
from reenact.faults.evidence import Evidence
from reenact.faults.facts.usable_rates import rates_within
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import detector
from reenact.probe.crash import Crash
from reenact.probe.crash_kind import CrashKind
from reenact.probe.crash_sorting import crash_kind
from reenact.probe.outcome import Outcome, OutcomeKind
from reenact.probe.trace import (
    Columns,
    Event,
    Experiments,
    LearningRateRange,
    OneBatch,
    Overlap,
    ParameterFacts,
)
from reenact.program.graph import (
    Layer,
    LossFacts,
    TaskType,
    TensorFacts,
    WeightFacts,
)
from reenact.testing.faults import evidence_of


def test_a_steep_end_is_reported_and_a_flat_one_is_not() -> None:
    steep = [3.0 - 0.01 * step for step in range(200)]
    flat = [0.3 + 2 * math.exp(-step / 15) for step in range(200)]
    assert [found.fault for found in findings_in("RE014", Evidence(trace=trace(steep)))] == [
        FaultType.HNE
    ]
    assert findings_in("RE014", Evidence(trace=trace(flat))) == ()


def test_gradients_collected_on_purpose_are_left_alone() -> None:
    run = trace([1.0] * 40)
    carried = run.steps.rows.copy()
    carried[1:, run.steps.columns.index("carried")] = 1
    forgotten = replace(run, steps=Columns(run.steps.columns, carried))
    text = TORCH.format(output="nn.Linear(16, 3)", loss="CrossEntropyLoss")
    from reenact.program.program import program_from_text
    from reenact.program.static_graph import static_graph

    static = static_graph(program_from_text(text))
    assert findings_in("RE010", Evidence(static=static, trace=run)) == ()
    assert len(findings_in("RE010", Evidence(static=static, trace=forgotten))) == 1


def test_rows_in_two_splits() -> None:
    def expected(*overlaps: Overlap) -> list[float]:
        run = trace([1.0] * 20, overlaps=overlaps)
        return [found.confidence for found in findings_in("RE018", Evidence(trace=run))]

    assert expected(Overlap("validation", 100, 1)) == []
    assert expected(Overlap("validation", 100, 40, complete=True)) == [0.85]
    assert expected(Overlap("validation", 100, 40)) == [0.3], "they may be evaluated beside others"
    assert expected(Overlap("test", 100, 100)) == [0.35]
    assert expected(Overlap("test", 100, 100), Overlap("validation", 100, 0)) == [0.2]


def test_a_range_test_outweighs_what_is_usual() -> None:
    rates = tuple(10 ** (-6 + 0.1 * step) for step in range(50))
    losses = tuple(2.0 if rate < 1e-4 else 1.0 if rate < 1e-2 else 50.0 for rate in rates)
    tried = Experiments(learning_rates=LearningRateRange(rates, losses))

    def expected(rate: float, last: float = 2.0) -> list[str]:
        run = trace(list(np.linspace(2.0, last, 40)))
        run.steps.rows[:, run.steps.columns.index("learning_rate")] = rate
        return [found.saw for found in findings_in("RE019", Evidence(trace=run, experiments=tried))]

    assert "usable range" in expected(0.5)[0]
    assert "learns from" in expected(1e-6)[0]
    assert expected(1e-3) == []
    assert "learns from" in expected(3e-5)[0], (
        "nothing was learned: a rate just outside the range is the cause"
    )
    assert expected(3e-5, last=1.5) == []


@pytest.mark.parametrize(
    ("low", "high"),
    [(0.05, 2.0), (0.02, 0.03), (1e-5, 1e-1), (0.11, 0.12), (3.0, 40.0)],
)
def test_rates_to_try_lie_in_the_range_that_was_found(low: float, high: float) -> None:
    rates = rates_within(low, high)
    assert rates
    assert all(low <= rate <= high for rate in rates)


def test_one_batch() -> None:
    def expected(*losses: float, accuracy: float | None = None) -> int:
        steps = OneBatch(len(losses), losses, accuracy)
        return len(findings_in("RE020", Evidence(experiments=Experiments(one_batch=steps))))

    falling = [2 * 0.8**step for step in range(50)]
    assert expected(*falling, accuracy=1.0) == 0
    assert expected(*falling) == 0
    assert expected(*[2.0] * 50) == 1
    assert expected(*[2.0] * 50, accuracy=0.4) == 1
    assert expected(*[2.0] * 30, *[math.nan] * 20, accuracy=0.4) == 1


def test_a_generator_in_training_mode_is_no_evaluation() -> None:
    run = trace([1.0] * 40, events=(Event("evaluation", 1, 0, 0.0, {"training": True}),))
    run.steps.rows[::2, run.steps.columns.index("optimizer")] = 1
    assert findings_in("RE011", Evidence(trace=run)) == ()


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (CrashKind.SHAPE, "mat1 and mat2 shapes cannot be multiplied (4x8 and 9x3)"),
        (
            CrashKind.SHAPE,
            "Given groups=1, expected input[2, 1, 8, 8] to have 3 channels, but got 1 channels",
        ),
        (CrashKind.SHAPE, "Sizes of tensors must match except in dimension 0."),
        (CrashKind.SHAPE, "shape '[2, 2]' is invalid for input of size 3"),
        (
            CrashKind.SHAPE,
            'Input 0 of layer "dense" is incompatible with the layer: expected axis -1 ...',
        ),
        (CrashKind.LABEL, "Target 2 is out of bounds."),
        (
            CrashKind.LABEL,
            "0D or 1D target tensor expected, multi-target not supported",
        ),
        (
            CrashKind.LABEL,
            "Using a target size (torch.Size([4])) that is different to the input size",
        ),
        (
            CrashKind.LABEL,
            "Expected input batch_size (4) to match target batch_size (3).",
        ),
        (CrashKind.LABEL, "Arguments `target` and `output` must have the same shape."),
        (
            CrashKind.DTYPE,
            "mat1 and mat2 must have the same dtype, but got Double and Float",
        ),
        (
            CrashKind.DTYPE,
            "Expected tensor for argument #1 'indices' to have one of the scalar types: Long",
        ),
        (
            CrashKind.DEVICE,
            "Expected all tensors to be on the same device, but found cuda:0 and cpu!",
        ),
        (CrashKind.MEMORY, "CUDA out of memory. Tried to allocate 2.00 GiB"),
        (CrashKind.OTHER, "'acc'"),
        (
            CrashKind.SHAPE,
            "Calculated output size: (64x24x0). Output size is too small\n\n"
            "Arguments received by MaxPooling2D.call():\n inputs=Tensor(dtype=float32)",
        ),
    ],
)
def test_exceptions_are_sorted(kind: CrashKind, message: str) -> None:
    assert crash_kind(Crash("RuntimeError", message, None, "", ())) is kind


def test_a_training_that_was_cut_off_early_is_not_reported_to_learn_nothing() -> None:
    run = trace([1.0986] * 30)
    assert findings_in("RE029", Evidence(trace=run))
    late = Outcome(OutcomeKind.TIMEOUT, None)
    assert findings_in("RE029", Evidence(trace=run, outcome=late)) == ()


def test_a_training_that_hardly_began_is_not_reported_to_learn_nothing() -> None:
    run = trace([1.0986] * 30)
    few = np.array(run.steps.rows)[:16]
    few[:, run.steps.columns.index("epoch")] = 0
    once = Evidence(trace=replace(run, steps=Columns(run.steps.columns, few)))
    twice = Evidence(trace=trace([1.0986] * 16))
    assert (findings_in("RE029", once), len(findings_in("RE029", twice))) == ((), 1)


def test_one_state_at_a_time_is_no_collapsed_output() -> None:
    text = TORCH.format(output="nn.Linear(16, 1)", loss="MSELoss")
    columns = ("step", "layer", "phase", "minimum", "maximum")
    rows = Columns(columns, np.array([[step, 0, 0, 0.4, 0.4] for step in range(8)], dtype=float))
    run = trace([1.0] * 20, layers=rows)
    assert findings_in("RE021", replace(evidence_of(text, run=False), trace=run))
    acts = replace(evidence_of(f"import gymnasium as gym\n{text}", run=False), trace=run)
    assert findings_in("RE021", acts) == ()


def test_a_copy_may_be_asked_in_training_mode_and_the_model_itself_may_not() -> None:
    dropout = Layer("1", "Dropout", None, ((None, 3),), (None, 3), None, {}, ())
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    asked = [
        Event("evaluation", 1, 0, 0.0, {"training": True, "learns": learns})
        for learns in (False, True)
    ]
    run = trace([1.0] * 40, graph=replace(model, layers=(*model.layers, dropout)))
    facts = (
        *run.parameter_facts,
        ParameterFacts("target.0.weight", (3, 8), False, False),
    )
    assert (
        findings_in(
            "RE011",
            Evidence(trace=replace(run, events=asked[:1], parameter_facts=facts)),
        )
        == ()
    )
    assert (
        len(
            findings_in(
                "RE011",
                Evidence(trace=replace(run, events=asked, parameter_facts=facts)),
            )
        )
        == 1
    )
    assert len(findings_in("RE011", Evidence(trace=replace(run, events=asked[:1])))) == 1


@pytest.mark.parametrize(
    ("settings", "reported"),
    [({}, 1), ({"weight": "given"}, 0), ({"pos_weight": "given"}, 0)],
)
def test_what_guessing_scores_is_not_known_where_classes_have_weights(
    settings: dict, reported: int
) -> None:
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    run = trace(
        [1.2] * 200,
        graph=replace(model, loss=LossFacts("cross_entropy", None, settings, None)),
    )
    assert len(findings_in("RE029", Evidence(trace=run))) == reported


def test_a_loss_that_skips_a_label_does_not_count_it() -> None:
    labels = replace(LABELS, minimum=-1.0, class_values=(-1, 0, 1, 2), class_counts=(9, 1, 1, 1))
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    skips = replace(model, loss=LossFacts("cross_entropy", None, {"ignore_index": -1}, None))
    assert (
        findings_in("RE004", Evidence(trace=trace([1.0] * 20, graph=skips, data=(labels,)))) == ()
    )
    assert (
        len(findings_in("RE004", Evidence(trace=trace([1.0] * 20, graph=model, data=(labels,)))))
        == 1
    )


@pytest.mark.parametrize(
    ("zeros", "gradients", "reported"),
    [
        pytest.param(2, (0.0, 0.0, 0.5), 0, id="the last layer"),
        pytest.param(2, (0.0, 0.0, 0.0), 1, id="a last layer that nothing reaches"),
        pytest.param(1, (0.5, 0.5, 0.5), 0, id="a residual branch"),
        pytest.param(1, (0.0, 0.5, 0.5), 1, id="a layer that all before it wait for"),
        pytest.param(0, (0.0, 0.0, 0.3), 1, id="a layer that nothing reaches"),
    ],
)
def test_a_start_at_zero(zeros: int, gradients: tuple[float, ...], reported: int) -> None:
    names = ("body", "branch", "head")
    layers = []
    for number, name in enumerate(names):
        spread = (0.0, 0.0, 0.0, 0.0) if number == zeros else (0.0, 0.2, -0.4, 0.4)
        weight = WeightFacts("weight", (8, 8), True, *spread, f"{name}.weight")
        layers.append(Layer(name, "Linear", None, ((None, 8),), (None, 8), None, {}, (weight,)))
    model = replace(graph(TaskType.REGRESSION, "mse", 8), layers=tuple(layers))
    rows = [[0, number, norm] for number, norm in enumerate(gradients)]
    table = Columns(("step", "parameter", "grad_norm"), np.array(rows))
    facts = tuple(ParameterFacts(f"{name}.weight", (8, 8), True, True) for name in names)
    run = trace([1.0] * 20, graph=model, parameters=table, parameter_facts=facts)
    for code in ("RE024", "NL004"):
        text = evidence_of("import torch", run=False).static
        found = run_detectors((detector(code),), Evidence(trace=run, static=text))
        assert len(found) == reported, code


START = """
import torch
from torch import nn
from data import loader
def start(module):
    if isinstance(module, nn.Linear):
        nn.init.normal_(module.weight, std=5.0)
model = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
model.apply(start)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for x, y in loader:
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""


def test_one_start_for_all_layers_is_one_finding_where_it_is_written() -> None:
    layers = tuple(
        Layer(
            name,
            "Linear",
            None,
            ((None, 8),),
            (None, 8),
            None,
            {},
            (WeightFacts("weight", (8, 8), True, 0.0, 5.0, -9.0, 9.0, f"{name}.weight"),),
        )
        for name in ("0", "2")
    )
    model = replace(graph(TaskType.REGRESSION, "mse", 8), layers=layers)
    evidence = replace(evidence_of(START, run=False), trace=trace([1.0] * 20, graph=model))
    (found,) = findings_in("RE024", evidence)
    assert found.place is not None
    assert found.place.line == 7
    assert "1 more" in found.saw


def test_one_batch_of_a_loss_with_a_floor_is_doubted() -> None:
    def sure(loss: str, labels: TensorFacts) -> float:
        run = trace([1.0] * 20, graph=graph(TaskType.UNKNOWN, loss, 3), data=(labels,))
        tried = Experiments(one_batch=OneBatch(50, (2.0,) * 50, None))
        return findings_in("RE020", Evidence(trace=run, experiments=tried))[0].confidence

    assert sure("binary_cross_entropy", QUANTITIES) < 0.45 < sure("binary_cross_entropy", YES_OR_NO)
    assert sure("own_loss", QUANTITIES) < 0.45 < sure("mse", QUANTITIES)
