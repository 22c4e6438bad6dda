"""Branches of our own rules that their examples do not reach: texts that are only read, and evidence made by
hand."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import PurePosixPath

import numpy as np
import pytest

from made_evidence import LABELS, ONE_HOT, QUANTITIES, YES_OR_NO, findings_in, graph, trace
from reenact.probe.outcome import Crash, Outcome, OutcomeKind, classify
from reenact.probe.trace import (
    Behaviour,
    Columns,
    Event,
    Experiments,
    LearningRateRange,
    Metric,
    OneBatch,
    Overlap,
    ParameterFacts,
    Trace,
)
from reenact.program.fault import Fault
from reenact.program.graph import (
    Layer,
    LossFacts,
    TaskType,
    TensorFacts,
    WeightFacts,
)
from reenact.rules.evidence import Evidence
from reenact.rules.finding import Certainty
from reenact.rules.own._crash import CrashKind, crash_kind
from reenact.rules.own._label_place import labels_made_at
from reenact.rules.own.learning_rate_outside_range import rates_within
from reenact.rules.registry import all_rules, chosen, rule
from reenact.rules.rule import run_rules
from reenact.testing.rules import evidence_of, findings
from reenact.types import Place

KERAS = """
import keras
from keras import layers
from data import x, y
model = keras.Sequential([layers.Input((8,)), layers.Dense(16, activation="relu"), {output}])
model.compile("adam", loss={loss})
model.fit(x, y, epochs=20, batch_size=16, validation_split=0.2)
"""
TORCH = """
import torch
from torch import nn
from data import loader
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), {output})
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
loss_of = nn.{loss}()
for epoch in range(20):
    for x, y in loader:
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        optimizer.step()
"""
LOGITS = "keras.losses.SparseCategoricalCrossentropy(from_logits=True)"


@pytest.mark.parametrize(
    ("text", "output", "loss"),
    [
        (KERAS, 'layers.Dense(3, activation="softmax")', '"categorical_crossentropy"'),
        (KERAS, 'layers.Dense(3), layers.Activation("softmax")', '"sparse_categorical_crossentropy"'),
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
def test_outputs_that_fit_their_loss_are_left_alone(code: str, text: str, output: str, loss: str) -> None:
    assert findings(rule(code), text.format(output=output, loss=loss)) == ()


@pytest.mark.parametrize(
    ("text", "output", "loss", "code", "fault", "value"),
    [
        (KERAS, "layers.Dense(3)", '"categorical_crossentropy"', "RE001", Fault.ARM, "softmax"),
        (
            KERAS,
            'layers.Dense(3, activation="relu")',
            '"categorical_crossentropy"',
            "RE001",
            Fault.ACH,
            "softmax",
        ),
        (
            KERAS,
            'layers.Dense(1, activation="tanh")',
            '"binary_crossentropy"',
            "RE001",
            Fault.ACH,
            "sigmoid",
        ),
        (KERAS, 'layers.Dense(1, activation="softmax")', '"mse"', "RE001", Fault.ACH, "linear"),
        (KERAS, 'layers.Dense(3, activation="softmax")', LOGITS, "RE002", Fault.AAL, "linear"),
        (TORCH, "nn.Linear(16, 3), nn.ReLU()", "CrossEntropyLoss", "RE001", Fault.AAL, "linear"),
        (TORCH, "nn.Linear(16, 3), nn.Softmax(dim=1)", "NLLLoss", "RE001", Fault.ACH, "log_softmax"),
        (TORCH, "nn.Linear(16, 1), nn.Sigmoid()", "BCEWithLogitsLoss", "RE002", Fault.AAL, "linear"),
    ],
)
def test_outputs_that_do_not_fit(
    text: str, output: str, loss: str, code: str, fault: Fault, value: str
) -> None:
    (found,) = findings(rule(code), text.format(output=output, loss=loss))
    assert found.fault is fault
    assert found.suggestions[0].new == value


def test_weight_decay_is_judged_by_its_optimiser() -> None:
    text = TORCH.format(output="nn.Linear(16, 3)", loss="CrossEntropyLoss")
    strong = text.replace("lr=0.01)", "lr=0.01, weight_decay=0.5)")
    (found,) = findings(rule("RE016"), strong)
    assert found.fault is Fault.HWD
    assert findings(rule("RE016"), strong.replace("optim.Adam", "optim.AdamW")) == ()


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
    assert [found.fault for found in findings(rule("RE016"), text)] == ([Fault.RAW] if expected else [])


def test_two_models_are_no_bottleneck() -> None:
    text = """
from torch import nn
maker = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 2))
judge = nn.Sequential(nn.Linear(2, 30), nn.ReLU(), nn.Linear(30, 1))
"""
    assert findings(rule("RE028"), text) == ()


@pytest.mark.parametrize(
    "layers",
    [
        "nn.Linear(20, 4), nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 20)",
        "nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 20)",
    ],
    ids=["narrow middle of an autoencoder", "bent"],
)
def test_layers_that_may_be_linear(layers: str) -> None:
    text = TORCH.replace("nn.Linear(8, 16), nn.ReLU(), {output}", layers).replace("{loss}", "MSELoss")
    assert findings(rule("RE027"), text) == ()


# Evidence made by hand ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "loss", "labels", "width", "framework", "value"),
    [
        (TaskType.MULTI_CLASS, "mse", ONE_HOT, 3, "keras", "categorical_crossentropy"),
        (TaskType.MULTI_CLASS, "mse", LABELS, 3, "keras", "sparse_categorical_crossentropy"),
        (TaskType.MULTI_CLASS, "binary_crossentropy", ONE_HOT, 3, "keras", "categorical_crossentropy"),
        (TaskType.BINARY, "l1", YES_OR_NO, 1, "torch", "BCEWithLogitsLoss"),
        (TaskType.BINARY, "cross_entropy", YES_OR_NO, 1, "torch", "BCEWithLogitsLoss"),
        (TaskType.REGRESSION, "binary_cross_entropy", QUANTITIES, 1, "torch", "MSELoss"),
        (TaskType.BINARY, "soft_margin", YES_OR_NO, 1, "torch", "BCEWithLogitsLoss"),
    ],
)
def test_a_loss_of_another_task(
    task: TaskType, loss: str, labels: TensorFacts, width: int, framework: str, value: str
) -> None:
    from reenact.rules.own.loss_of_another_task import _better

    run = trace([1.0] * 20, graph=graph(task, loss, width, framework=framework), data=(labels,))
    (found,) = findings_in("RE003", Evidence(trace=run))
    assert found.fault is Fault.LCH
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
        ("binary_cross_entropy", replace(QUANTITIES, maximum=5.0), 1, Fault.CPP),
        ("cross_entropy", LABELS, 2, Fault.LCN),
        ("cross_entropy", replace(LABELS, minimum=-1.0, class_values=(-1, 0, 1)), 3, Fault.CPP),
    ],
)
def test_labels_out_of_the_domain_of_a_loss(loss: str, labels: TensorFacts, width: int, fault: Fault) -> None:
    run = trace([1.0] * 20, graph=graph(TaskType.MULTI_CLASS, loss, width), data=(labels,))
    (found,) = findings_in("RE004", Evidence(trace=run))
    assert found.fault is fault


def test_labels_beside_a_loss_of_quantities_may_be_those_of_another_head() -> None:
    run = trace([1.0] * 20, graph=graph(TaskType.BINARY, "binary_cross_entropy", 1), data=(QUANTITIES,))
    for text, sure in (("import torch\n", "proof"), ("import torch\nmass = torch.nn.MSELoss()\n", "hint")):
        (found,) = findings_in("RE004", replace(evidence_of(text, run=False), trace=run))
        assert found.certainty == sure


def test_ignored_labels_are_no_classes() -> None:
    labels = replace(LABELS, minimum=-100.0, class_values=(-100, 0, 1, 2))
    run = trace([1.0] * 20, data=(labels,))
    assert findings_in("RE004", Evidence(trace=run)) == ()


def test_a_steep_end_is_reported_and_a_flat_one_is_not() -> None:
    steep = [3.0 - 0.01 * step for step in range(200)]
    flat = [0.3 + 2 * math.exp(-step / 15) for step in range(200)]
    assert [found.fault for found in findings_in("RE014", Evidence(trace=trace(steep)))] == [Fault.HNE]
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
    ("low", "high"), [(0.05, 2.0), (0.02, 0.03), (1e-5, 1e-1), (0.11, 0.12), (3.0, 40.0)]
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
        (CrashKind.SHAPE, 'Input 0 of layer "dense" is incompatible with the layer: expected axis -1 ...'),
        (CrashKind.LABEL, "Target 2 is out of bounds."),
        (CrashKind.LABEL, "0D or 1D target tensor expected, multi-target not supported"),
        (CrashKind.LABEL, "Using a target size (torch.Size([4])) that is different to the input size"),
        (CrashKind.LABEL, "Expected input batch_size (4) to match target batch_size (3)."),
        (CrashKind.LABEL, "Arguments `target` and `output` must have the same shape."),
        (CrashKind.DTYPE, "mat1 and mat2 must have the same dtype, but got Double and Float"),
        (CrashKind.DTYPE, "Expected tensor for argument #1 'indices' to have one of the scalar types: Long"),
        (CrashKind.DEVICE, "Expected all tensors to be on the same device, but found cuda:0 and cpu!"),
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


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "AttributeError",
            "module 'numpy' has no attribute 'float'. `np.float` was a deprecated alias; data type",
        ),
        ("ImportError", "cannot import name 'KerasClassifier' from 'keras.wrappers.scikit_learn'"),
        ("NameError", "name 'to_categorical' is not defined"),
        ("TypeError", "Model.fit() got an unexpected keyword argument 'nb_epoch'"),
    ],
)
def test_a_name_that_is_not_there_is_not_a_type_mismatch(kind: str, message: str) -> None:
    assert crash_kind(Crash(kind, message, None, "", (), (kind, "Exception"))) is CrashKind.NAME


def test_every_crash_has_one_finding() -> None:
    crash = Crash("ModuleNotFoundError", "No module named 'x'", None, "", (), ("ModuleNotFoundError",))
    ended = Evidence(outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash))
    expected = run_rules([one for one in all_rules() if one.code.startswith("RE9")], ended)
    assert [found.code for found in expected] == ["RE906"]


def test_a_missing_package_names_the_interpreter_and_how_to_name_another() -> None:
    crash = Crash("ModuleNotFoundError", "No module named 'torch'", None, "", (), ("ModuleNotFoundError",))
    outcome = classify(1, crash, trained=False, python="/usr/bin/python3")
    (found,) = run_rules(chosen(("RE906",)), Evidence(outcome=outcome))
    for text in (found.saw, outcome.sentence):
        assert "No module named 'torch'" in text
        assert "/usr/bin/python3" in text
        assert "Pass --python PATH, or activate the environment that has it" in text


@pytest.mark.parametrize(
    "run",
    [
        trace([]),
        trace([1.0]),
        trace([math.nan] * 30),
        trace([math.inf, 1.0] * 20),
        trace([1.0] * 30, graph=None, data=()),
        trace([0.0] * 30, metrics=(Metric("accuracy", math.nan, 1, 0, 0.0, "user"),)),
        trace([1.0] * 30, data=(replace(LABELS, class_counts=(), mean=None, std=None, minimum=None),)),
    ],
    ids=["nothing", "one step", "NaN", "infinite", "no graph", "zero", "empty labels"],
)
@pytest.mark.parametrize("family", ["reenact", "deepchecker"])
def test_no_rule_stumbles_over_poor_evidence(run: Trace, family: str) -> None:
    evidence = Evidence(trace=run, experiments=Experiments(one_batch=OneBatch(0, (), None)))
    rules = [one for one in all_rules() if one.family == family]
    assert all(found.saw for found in run_rules(rules, evidence))


# What is done on purpose ----------------------------------------------------------------------------------

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
    ("graded", "present", "line"), [(True, 0.0, 3), (False, 0.0, None), (True, 1.0, None)]
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
    run = replace(run, parameters=Columns(("step", "parameter", "grad_present"), np.array(rows, dtype=float)))
    text = "model = Net()\noptimizer = Adam(model.parameters())\nmodel.head = nn.Linear(8, 3)\n"
    found = findings_in("RE013", replace(evidence_of(text, run=False), trace=run))
    assert [one.place.line for one in found if one.place is not None] == ([line] if line else [])


@pytest.mark.parametrize(
    ("name", "last", "strong"), [("SGD", 0.3, False), ("SGD", 1.0, True), ("Adam", 0.3, True)]
)
def test_a_high_rate_of_plain_sgd_that_settles_is_none(name: str, last: float, strong: bool) -> None:
    kept = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    assert kept.optimizer is not None
    run = trace([1.1] * 10 + [last] * 40, graph=replace(kept, optimizer=replace(kept.optimizer, name=name)))
    run.steps.rows[:, run.steps.columns.index("learning_rate")] = 10.0
    (found,) = findings_in("UM005", replace(evidence_of("import torch\n", run=False), trace=run))
    assert (found.certainty is Certainty.STRONG) is strong


@pytest.mark.parametrize(("zeroed", "count"), [(1.0, 1), (2.0, 0)])
def test_a_divergence_summed_over_each_row_counts_where_inputs_are_ignored(zeroed: float, count: int) -> None:
    text = BOUND.format(
        kl="-0.5 * torch.sum(1 + log_var - mean.pow(2) - log_var.exp(), dim=1).mean()",
        total="distance + kl",
        reduction="",
    )
    tried = Experiments(one_batch=OneBatch(20, (1.0,) * 20, None, (zeroed,) * 20))
    found = findings_in("RE054", replace(evidence_of(text, run=False), experiments=tried))
    assert [one.place.line for one in found if one.place is not None] == [5] * count


@pytest.mark.parametrize(("answer", "count"), [("x", 0), ("y", 1)])
def test_rows_that_a_model_makes_itself_are_not_held_out(answer: str, count: int) -> None:
    """Samples are drawn step by step from noise, which has another scale than the data."""
    text = f"""
@torch.no_grad()
def sample(net, x):
    for t in range(60):
        eps = net(x, t)
        {answer} = x - eps
    return {answer}
"""
    rows = [replace(QUANTITIES, role="input", mean=100.0, std=50.0)]
    rows.append(replace(rows[0], split="test", mean=0.0, std=1.0))
    evidence = replace(evidence_of(text, run=False), trace=trace([1.0] * 40, data=tuple(rows)))
    assert len(findings_in("RE007", evidence)) == count


@pytest.mark.parametrize(("least", "count"), [(2.3, 1), (2.0, 0)])
def test_quantities_beside_a_table_that_is_looked_up_are_no_symbols(least: float, count: int) -> None:
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
    ("at_start", "ends"), [(0.0, "by 0.5 of its spread after the training"), (0.7, "by 0.7 of its spread")]
)
def test_what_moves_at_the_end_alone_is_reported_as_such(at_start: float, ends: str) -> None:
    start, end = Behaviour("Net", mixing=at_start), Behaviour("Net", at_end=True, mixing=0.5)
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


def test_a_training_that_was_cut_off_early_is_not_reported_to_learn_nothing() -> None:
    run = trace([1.0986] * 30)
    assert findings_in("RE029", Evidence(trace=run))
    late = Outcome(OutcomeKind.TIMEOUT, None)
    assert findings_in("RE029", Evidence(trace=run, outcome=late)) == ()


def test_one_of_several_heads_may_end_in_a_softmax() -> None:
    heads = TORCH.replace(
        "model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), {output})",
        "model = nn.Sequential(nn.Linear(8, 16), nn.Softmax(dim=1), nn.Linear({taken}, 3))",
    )
    assert findings(rule("RE041"), heads.format(taken=16, loss="CrossEntropyLoss"))
    assert findings(rule("RE041"), heads.format(taken=9, loss="CrossEntropyLoss")) == ()


def crashed(message: str, kind: str = "ValueError") -> Evidence:
    crash = Crash(kind, message, Place(PurePosixPath("train.py"), 8, 0), "", (), (kind,))
    text = KERAS.format(output="layers.Dense(3)", loss='"categorical_crossentropy"')
    read = evidence_of(text, run=False)
    return replace(read, outcome=Outcome(OutcomeKind.CRASHED, 1, crash=crash))


def test_a_shape_error_is_placed_at_the_layer_that_it_names() -> None:
    message = "Input 0 of layer 'dense' is incompatible with the layer: expected axis -1 (dtype)"
    (found,) = findings_in("RE901", crashed(message))
    assert (found.fault, found.layer) == (Fault.LCN, "dense")
    assert found.place is not None
    assert found.place.line == 5


def test_labels_of_another_form_are_placed_at_the_loss() -> None:
    message = "Arguments `target` and `output` must have the same shape. Received: target.shape=(32,)"
    (found,) = findings_in("RE902", crashed(message))
    assert found.fault is Fault.LCH
    assert found.place is not None
    assert found.place.line == 6
    assert [one.new for one in found.suggestions] == ["sparse_categorical_crossentropy"]


def test_what_stands_in_a_comment_is_not_done() -> None:
    text = KERAS.format(output='layers.Dense(3, activation="softmax")', loss='"categorical_crossentropy"')
    assert findings(rule("RE002"), f"{text}# loss_of = keras.losses.X(from_logits=True)\n") == ()
    assert findings(rule("RE002"), f"{text}loss_of = keras.losses.X(from_logits=True)\n")


def with_data(text: str, inputs: tuple[int | None, ...], labels: tuple[int | None, ...]) -> Evidence:
    """A program that ended in its first step, outside of any layer, with data of these shapes."""
    crash = Crash(
        "RuntimeError", "The size of tensor a must match", Place(PurePosixPath("t.py"), 9, 0), "", ()
    )
    ended = Outcome(OutcomeKind.CRASHED, 1, crash=crash)
    data = (replace(LABELS, shape=labels), replace(LABELS, role="input", shape=inputs))
    run = trace([], graph=None, data=data)
    return replace(evidence_of(text, run=False), trace=run, outcome=ended)


def test_a_shape_that_fits_no_labels_is_placed_at_the_layers_that_made_it() -> None:
    text = KERAS.replace("layers.Input((8,))", "layers.Input((8, 2)), layers.Conv1D(4, 3)").format(
        output="layers.Dense(3)", loss='"mse"'
    )
    (found,) = findings_in("RE901", with_data(text, (None, 8, 2), (None, 3)))
    assert (found.layer, "gives rank 3, labels have rank 2" in found.saw) == ("dense_1", True)
    (found,) = findings_in("NL011", with_data(text, (None, 8, 2), (None, 3)))
    assert (found.layer, found.certainty, found.fault) == ("dense", "proof", Fault.LRM)
    flat = text.replace("layers.Conv1D(4, 3)", "layers.Conv1D(4, 3), layers.Flatten()")
    (found,) = findings_in("RE901", with_data(flat, (None, 8, 2), (None, 3)))
    assert found.place is not None
    assert (found.layer, found.place.line) == ("", 9)


def test_inputs_of_another_rank_are_placed_where_the_model_says_what_it_takes() -> None:
    text = KERAS.replace("Input((8,))", "Input(shape=(8,))").format(output="layers.Dense(3)", loss='"mse"')
    (found,) = findings_in("RE901", with_data(text, (None, 4, 8), (None, 3)))
    assert found.place is not None
    assert found.place.line == 5
    assert "takes rows of shape (8,) and is given (4, 8)" in found.saw


CURVE = """
import torch
from torch import nn
from reenact.testing.toys import curve
x, y = map(torch.from_numpy, curve())
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
loss_of = nn.MSELoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(3):
    optimizer.zero_grad()
    loss = {loss}
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("loss", "line", "edit"),
    [
        ("loss_of(model(x), y[:, 0])", 11, "change y[:, 0] to y[:, 0].unsqueeze(1)"),
        ("loss_of(model(x)[:, 0], y)", 11, "change y to y.squeeze(1)"),
        ("((model(x) - y[:, 0]) ** 2).mean()", 12, "broadcast to (300, 300)"),
    ],
)
def test_a_target_that_is_stretched_over_all_rows(loss: str, line: int, edit: str) -> None:
    (found,) = findings(rule("RE033"), CURVE.format(loss=loss))
    assert found.place is not None
    assert (found.place.line, found.certainty, edit in found.saw) == (line, "proof", True)


@pytest.mark.parametrize("loss", ["loss_of(model(x), y)", "((model(x) - y) ** 2).mean()"])
def test_a_target_of_the_shape_of_the_output(loss: str) -> None:
    assert findings(rule("RE033"), CURVE.format(loss=loss)) == ()


KERAS_CURVE = """
import keras
from reenact.testing.toys import curve
x, y = curve()
model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense({width})])
model.compile("adam", "mse")
model.fit(x, {labels}, epochs=1, verbose=0)
"""


def test_one_target_for_several_outputs_and_what_keras_adapts_itself() -> None:
    (found,) = findings(rule("RE033"), KERAS_CURVE.format(width=4, labels="y"))
    assert (found.fault, found.layer, found.certainty) == (Fault.LCN, "dense_1", "strong")
    assert findings(rule("RE033"), KERAS_CURVE.format(width=1, labels="y[:, 0]")) == ()


def test_a_training_that_hardly_began_is_not_reported_to_learn_nothing() -> None:
    run = trace([1.0986] * 30)
    few = np.array(run.steps.rows)[:16]
    few[:, run.steps.columns.index("epoch")] = 0
    once = Evidence(trace=replace(run, steps=Columns(run.steps.columns, few)))
    twice = Evidence(trace=trace([1.0986] * 16))
    assert (findings_in("RE029", once), len(findings_in("RE029", twice))) == ((), 1)


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


LABELLED = """
from sklearn.model_selection import train_test_split
def train(x, y, epochs):
    x_a, x_b, y_a, y_b = train_test_split(x, y)
    model.fit(x_a, y_a, epochs=epochs)
labels = load()
labels = 2 * labels - 1
labels_32 = labels.astype("float32")
train(data, labels_32, 3)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (LABELLED, 7),
        ("y = read()\nmodel.fit(x, y)\n", 1),
        ("y = read() * 2\nys = torch.from_numpy(y)\ndata = TensorDataset(x, ys)\n", 1),
        ("model.fit(x, read())\n", None),
        ("def train(y):\n    model.fit(x, y)\n", None),
    ],
)
def test_the_line_that_makes_the_labels(text: str, line: int | None) -> None:
    made = labels_made_at(evidence_of(text, run=False))
    assert (made.line if made is not None else None) == line


def test_labels_that_a_loss_does_not_take_are_placed_where_they_are_made() -> None:
    text = KERAS.format(output="layers.Dense(1)", loss='"binary_crossentropy"')
    data = (replace(LABELS, minimum=-1.0, maximum=1.0, class_values=(-1, 1)),)
    run = trace([0.5] * 20, graph=graph(TaskType.BINARY, "binary_crossentropy", 1), data=data)
    there = replace(evidence_of(text.replace("from data import x, y", "y = f()"), run=False), trace=run)
    (found,) = findings_in("RE004", there)
    assert found.place is not None
    assert (found.place.line, found.certainty, "at line 6" in found.saw) == (4, "proof", True)
    (found,) = findings_in("RE004", replace(evidence_of(text, run=False), trace=run))
    assert found.place is not None
    assert found.place.line == 6


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
    asked = [Event("evaluation", 1, 0, 0.0, {"training": True, "learns": learns}) for learns in (False, True)]
    run = trace([1.0] * 40, graph=replace(model, layers=(*model.layers, dropout)))
    facts = (*run.parameter_facts, ParameterFacts("target.0.weight", (3, 8), False, False))
    assert findings_in("RE011", Evidence(trace=replace(run, events=asked[:1], parameter_facts=facts))) == ()
    assert len(findings_in("RE011", Evidence(trace=replace(run, events=asked, parameter_facts=facts)))) == 1
    assert len(findings_in("RE011", Evidence(trace=replace(run, events=asked[:1])))) == 1


@pytest.mark.parametrize(
    ("settings", "reported"), [({}, 1), ({"weight": "given"}, 0), ({"pos_weight": "given"}, 0)]
)
def test_what_guessing_scores_is_not_known_where_classes_have_weights(settings: dict, reported: int) -> None:
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    run = trace([1.2] * 200, graph=replace(model, loss=LossFacts("cross_entropy", None, settings, None)))
    assert len(findings_in("RE029", Evidence(trace=run))) == reported


def test_a_loss_that_skips_a_label_does_not_count_it() -> None:
    labels = replace(LABELS, minimum=-1.0, class_values=(-1, 0, 1, 2), class_counts=(9, 1, 1, 1))
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    skips = replace(model, loss=LossFacts("cross_entropy", None, {"ignore_index": -1}, None))
    assert findings_in("RE004", Evidence(trace=trace([1.0] * 20, graph=skips, data=(labels,)))) == ()
    assert len(findings_in("RE004", Evidence(trace=trace([1.0] * 20, graph=model, data=(labels,))))) == 1


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
        found = run_rules((rule(code),), Evidence(trace=run, static=text))
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


FORWARD = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = nn.Linear(8, 8)
        self.two = nn.Linear(8, 3)
    def forward(self, x):
        x = self.one(x)
        return self.two(x)
"""


def test_places_that_a_reader_looks_at() -> None:
    (found,) = findings(rule("NL009"), FORWARD)
    assert found.place is not None
    assert found.place.line == 10, "where the activation is missing, not where the layer is made"
    evidence = evidence_of("x = 1\ndef step(loss):\n    loss.backward()\n", run=False)
    run = trace([1.0] * 20)
    run.steps.rows[:, run.steps.columns.index("carried")] = 1
    (found,) = findings_in("RE010", replace(evidence, trace=run))
    assert found.place is not None
    assert found.place.line == 3


LOOP = "for epoch in range(9):\n    loss = step()\n    loss.backward()\n    {line}\n"
BOUND = """
import torch.nn.functional as F
def loss_of(output, x, mean, log_var):
    distance = F.mse_loss(output, x{reduction})
    kl = {kl}
    return {total}
"""
POLICY = """
def losses(net, states, actions, returns):
    log_probs = F.log_softmax(net(states), -1)
    chosen = log_probs.gather(1, actions)
    policy_loss = {sign}(chosen * (returns - 1)).mean()
    policy_loss.backward()
"""
PAIRS = """
images, texts = pairs()
first = DataLoader(TensorDataset(images), shuffle={first})
second = DataLoader(TensorDataset(texts), shuffle=True)
for (a,), (b,) in zip(first, second):
    loss = contrast(a, b)
"""
NOISE = """
for step in range(9):
    x = batch()
    noise = torch.randn_like(x)
    noised = {noised}
    loss = F.mse_loss(model(noised), noise)
"""
STEP = """
import keras
class Net(keras.Model):
    def __init__(self):
        super().__init__()
        self.drop = keras.layers.Dropout(0.5)
    def {name}(self, batch):
        return self(batch, training=True)
"""
DISTIL = """
import torch.nn as nn
class Distiller:
    def __init__(self):
        self.divergence = nn.KLDivLoss(reduction="batchmean")
    def loss(self, student, teacher):
        given = F.{given}(student, dim=1)
        return self.divergence(given, F.softmax(teacher, dim=1))
"""
RARE = """
rare = np.flatnonzero(y)
more = np.random.choice({population}, 100, replace=True)
x, y = {rows}, y[more]
train, test = train_test_split(x)
"""
CUT = """
rare = np.flatnonzero(y)
more = np.random.choice({population}, size=len(y) - len(rare), replace=True)
x = {rows}
cut = int(0.8 * len(x))
train, test = x[:cut], x[{rest}:]
"""
FLIPPED = """
def item(img, mask):
    if random() < 0.5:
        {both}
    if random() < 0.5:
        img, mask = img[::-1], mask[::-1]
    return img, mask
"""
VALUES = """
memory.append((state, action, reward, after, dones))
states, actions, rewards, after, ends = batch(memory)
later = critic(after)
later[ends] = 0
target = rewards + gamma * {value}
"""
REPLAYED = """
def play(env, net, memory):
    obs = env.reset()
    while learning:
        following, r, terminated, late = env.step(net(obs).argmax())
        memory.push(obs, r, following, float(terminated))
        obs = env.reset() if terminated or late else following
        s, r, s2, done = memory.sample(64)
        y = {target}
"""
RETURNS = """
dones.append(done)
for reward in reversed(rewards):
    total = reward + gamma * total
"""
SCORES = """
def contrast(a, b, tau={tau}):
    scores = {scores}
    return cross_entropy(scores, torch.arange(len(a)))
"""
HITS = """
def judge(model, loader, hits=0):
    for x, y in loader:
        hits {sign}= (model(x).argmax(1) == y).float().{counted}().item()
    return {share}
"""
AUGMENTED = """
noisy = transforms.Compose([transforms.{name}()])
data = Images(transform=noisy)
train_set, val_set = random_split(data, [80, 20])
{after}
"""


def bound(kl: str, total: str, reduction: str = "") -> str:
    """The loss of a VAE; `KL` is the sum that a divergence is made of."""
    written = kl.replace("KL", "torch.sum(1 + log_var - mean.pow(2) - log_var.exp())")
    return BOUND.format(kl=written, total=total, reduction=reduction)


@pytest.mark.parametrize(
    ("code", "text", "line"),
    [
        ("RE047", LOOP.format(line="history.append(loss)"), 4),
        ("RE047", LOOP.format(line="history.append(loss.item())"), None),
        ("RE047", LOOP.format(line="history = []; history.append(loss)"), None),
        ("RE047", LOOP.format(line="history.append(other)"), None),
        ("RE047", LOOP.format(line="history.append(loss)").replace("range(9)", "loader"), None),
        ("RE054", bound("-0.5 * KL", "distance + kl"), 5),
        ("RE054", bound("-0.5 * KL", "distance + kl", ", reduction='sum'"), None),
        ("RE054", bound("-0.5 * KL / x.numel()", "distance + kl"), None),
        ("RE054", bound("-0.5 * KL", "distance + beta * kl"), None),
        ("RE049", bound("0.5 * KL", "distance + kl"), 5),
        ("RE049", bound("0.5 * KL", "distance - kl"), None),
        ("RE049", bound("-0.5 * KL", "distance + kl"), None),
        ("RE049", bound("-0.5 / len(x) * KL", "distance + kl"), None),
        ("RE049", bound("0.5 / len(x) * KL", "distance + kl"), 5),
        ("RE049", POLICY.format(sign=""), 5),
        ("RE049", POLICY.format(sign="-"), None),
        ("RE049", POLICY.format(sign="").replace(".mean()", ".mean() - 0.01 * entropy"), 5),
        ("RE049", POLICY.format(sign="0.5 * value_loss - ").replace(".mean()", ".mean() - entropy"), None),
        ("RE049", POLICY.format(sign="").replace("    chosen", "    adv = -returns\n    chosen"), None),
        ("RE053", PAIRS.format(first="True"), 5),
        ("RE053", PAIRS.format(first="False"), None),
        ("RE053", NOISE.format(noised="add_noise(x)"), 6),
        ("RE053", NOISE.format(noised="x + noise"), None),
        ("RE053", FLIPPED.format(both="img = img[:, ::-1]"), 4),
        ("RE053", FLIPPED.format(both="img, mask = img[:, ::-1], mask[:, ::-1]"), None),
        ("RE059", VALUES.format(value="critic(after)"), 6),
        ("RE059", VALUES.format(value="critic(after) * (1 - ends)"), None),
        ("RE059", VALUES.format(value="later"), None),
        ("RE059", VALUES.format(value="critic(after)").replace("dones", "actions"), None),
        ("RE059", RETURNS, None),
        ("RE059", REPLAYED.format(target="r + gamma * critic(s2).max(1).values"), 9),
        ("RE059", REPLAYED.format(target="r if done else r + gamma * critic(s2).max()"), None),
        ("RE060", SCORES.format(scores="a @ b.T * tau", tau="0.1"), 3),
        ("RE060", SCORES.format(scores="torch.matmul(a, b.T) * tau", tau="0.1"), 3),
        ("RE060", SCORES.format(scores="a @ b.T / tau", tau="0.1"), None),
        ("RE060", SCORES.format(scores="a @ b.T * tau", tau="14.0"), None),
        ("RE060", SCORES.format(scores="a @ b.T * tau.exp()", tau="0.1"), None),
        ("RE060", "import torch\nT = 4.0\nsoft = torch.softmax(teacher(x) * T, 1)\n", 3),
        ("RE001", DISTIL.format(given="softmax"), 8),
        ("RE001", DISTIL.format(given="log_softmax"), None),
        ("RE055", RARE.format(population="rare", rows="x[more]"), 3),
        ("RE055", RARE.format(population="names", rows="x[more]"), None),
        ("RE055", RARE.format(population="rare", rows="x[more] + noise"), None),
        ("RE055", CUT.format(population="rare", rows="x[more]", rest="cut"), 3),
        ("RE055", CUT.format(population="rare", rows="x[more]", rest="other"), None),
        ("RE055", CUT.format(population="rare", rows="x[more] + noise", rest="cut"), None),
        ("RE055", CUT.format(population="np.arange(3)", rows="x[more]", rest="cut"), None),
        ("RE056", AUGMENTED.format(name="RandomCrop", after=""), 4),
        ("RE056", AUGMENTED.format(name="ToTensor", after=""), None),
        ("RE056", AUGMENTED.format(name="RandomCrop", after="val_set.dataset = Images()"), None),
        ("RE056", "val_set = Images(augment=True)\n", 1),
        ("RE058", HITS.format(sign="", counted="mean", share="hits"), 4),
        ("RE058", HITS.format(sign="+", counted="sum", share="hits / len(loader)"), 4),
        ("RE058", HITS.format(sign="+", counted="mean", share="hits / len(loader.dataset)"), 4),
        ("RE058", HITS.format(sign="+", counted="mean", share="hits / len(loader)"), None),
        ("RE058", HITS.format(sign="+", counted="sum", share="hits / len(loader.dataset)"), None),
    ],
)  # fmt: skip
def test_faults_that_the_text_alone_shows(code: str, text: str, line: int | None) -> None:
    found = [finding for finding in findings(rule(code), text) if finding.place is not None]
    assert [finding.place.line for finding in found if finding.place] == ([line] if line else [])


@pytest.mark.parametrize(("name", "fires"), [("test_step", True), ("train_step", False)])
def test_a_step_of_keras_that_evaluates_in_training_mode(name: str, fires: bool) -> None:
    evidence = replace(evidence_of(STEP.format(name=name), run=False), trace=trace([1.0] * 20, graph=None))
    assert [one.place.line for one in findings_in("RE011", evidence) if one.place] == ([8] if fires else [])


def test_numbers_that_are_not_finite_are_placed_where_numpy_warned() -> None:
    place = Place(PurePosixPath("train.py"), 19)
    warned = Event("warning", 0, 0, 0.0, {"message": "divide by zero encountered in log"}, place)
    other = Event("warning", 0, 0, 0.0, {"message": "deprecated"}, Place(PurePosixPath("train.py"), 2))
    run = replace(trace([math.nan] * 20), events=(other, warned))
    assert Evidence(trace=run).non_finite_at == place
    assert Evidence(trace=replace(run, events=(other,))).non_finite_at is None


SCALED = """
scaler = torch.amp.GradScaler("cpu"{given})
for x, y in loader:
    scaler.scale(loss_of(x, y)).backward()
    {before}
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
"""


@pytest.mark.parametrize(
    ("given", "before", "line"),
    [("", "pass", 6), ("", "scaler.unscale_(optimizer)", None), (", enabled=half", "pass", None)],
)
def test_clipping_before_gradients_are_unscaled(given: str, before: str, line: int | None) -> None:
    evidence = evidence_of(SCALED.format(given=given, before=before), run=False)
    found = findings_in("RE043", replace(evidence, trace=trace([1.0] * 20)))
    assert [one.place.line for one in found if one.place] == ([line] if line else [])
