"""Rules that believe what was measured of the tensors: what the loss was given, how labels come."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from made_evidence import LABELS, QUANTITIES, findings_in, graph, trace
from reenact.faults import Certainty, Evidence
from reenact.faults.registry import detector
from reenact.probe.trace import Columns
from reenact.program.graph import TaskType
from reenact.testing.faults import evidence_of

CONTRAST = replace(
    LABELS,
    maximum=31.0,
    classes=32,
    class_counts=(9,) * 32,
    class_values=tuple(range(32)),
)


def with_loss(**facts: object) -> Evidence:
    """A run of a linear model with three outputs whose loss is known so well."""
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 3)
    assert model.loss is not None
    loss = replace(model.loss, from_logits=True, **facts)  # type: ignore[arg-type]
    return Evidence(trace=trace([1.0] * 20, graph=replace(model, loss=loss)))


def test_classes_are_counted_by_what_the_loss_was_given() -> None:
    """In a contrast each row of the batch is a class, however wide the model is."""
    evidence = with_loss(compared=((32, 32), (32,)))
    assert evidence.trace is not None
    contrast = Evidence(trace=replace(evidence.trace, data=(CONTRAST,)))
    assert findings_in("RE004", contrast) == ()
    short = with_loss(compared=((32, 2), (32,)))
    (found,) = findings_in("RE004", short)
    assert found.saw == "class 2 where the output has 2 units"
    assert found.certainty is Certainty.HINT  # torch would have ended the training
    assert short.trace is not None
    (proven,) = findings_in(
        "RE004",
        Evidence(trace=replace(short.trace, steps=short.trace.steps.where(step=0))),
    )
    assert proven.certainty is Certainty.PROOF


@pytest.mark.parametrize(
    ("compared", "reported"), [(((40, 8), (40, 8)), 0), (((40, 1), (40, 1)), 1)]
)
def test_soft_targets_made_of_labels_are_no_regression(
    compared: tuple[tuple[int, ...], ...], reported: int
) -> None:
    model = graph(TaskType.REGRESSION, "cross_entropy", compared[0][1])
    assert model.loss is not None
    loss = replace(model.loss, compared=compared)
    run = trace([1.0] * 20, graph=replace(model, loss=loss), data=(QUANTITIES,))
    assert len(findings_in("RE003", Evidence(trace=run))) == reported


@pytest.mark.parametrize(("optimizers", "certainty"), [(1, Certainty.PROOF), (2, Certainty.HINT)])
def test_labels_beside_several_optimizers_may_be_of_another_loss(
    optimizers: int, certainty: Certainty
) -> None:
    run = trace([1.0] * 20, graph=graph(TaskType.BINARY, "binary_cross_entropy", 1))
    steps = run.steps.rows.copy()
    steps[:, run.steps.columns.index("optimizer")] = np.arange(20) % optimizers
    (found,) = findings_in(
        "RE004", Evidence(trace=replace(run, steps=Columns(run.steps.columns, steps)))
    )
    assert (found.saw, found.certainty) == (
        "labels from 0 to 2 for binary_cross_entropy",
        certainty,
    )


TWO_HEADS = """\
import keras
from keras import layers

inputs = keras.Input((16,))
hidden = layers.Dense(8, activation="relu")(inputs)
kind = layers.Dense(3, activation="softmax", name="kind")(hidden)
density = layers.Dense(1, name="density")(hidden)
model = keras.Model(inputs, {"kind": kind, "density": density})
"""


def test_of_several_outputs_nobody_knows_which_the_labels_are_of() -> None:
    lines = [line for line in TWO_HEADS.splitlines() if not line.startswith("kind")]
    one = "\n".join(lines).replace('{"kind": kind, "density": density}', "density")
    run = trace(
        [1.0] * 20,
        graph=graph(TaskType.MULTI_CLASS, "sparse_categorical_crossentropy", 1),
    )
    heads = [replace(evidence_of(text, run=False), trace=run) for text in (TWO_HEADS, one)]
    assert [evidence.several_outputs for evidence in heads] == [True, False]
    assert [len(findings_in("RE004", evidence)) for evidence in heads] == [0, 1]


TOWERS = """\
from torch import nn

{helper}

class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.voice, self.face = {towers}

    def forward(self, v, f):
        return self.voice(v) @ self.face(f).T
"""
TOWER = "def tower(n):\n    return nn.Sequential(nn.Linear(n, 8), nn.ReLU(), nn.Linear(8, 4))"
BY_HELPER = TOWERS.format(helper=TOWER, towers="tower(5), tower(6)")
WRITTEN_OUT = TOWERS.format(
    helper="",
    towers=", ".join(
        f"nn.Sequential(nn.Linear({n}, 8), nn.ReLU(), nn.Linear(8, 4))" for n in (5, 6)
    ),
)


@pytest.mark.parametrize("text", [BY_HELPER, WRITTEN_OUT], ids=["helper", "written out"])
def test_two_towers_that_give_one_tensor_have_one_output(text: str) -> None:
    model = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 1), outputs=1)
    evidence = replace(evidence_of(text, run=False), trace=trace([1.2] * 200, graph=model))
    assert not evidence.several_outputs
    assert len(findings_in("RE029", evidence)) == 1


@pytest.mark.parametrize(("outputs", "several"), [(1, False), (2, True), (None, True)])
def test_what_a_pass_gives_decides_over_the_text(outputs: int | None, several: bool) -> None:
    model = replace(graph(TaskType.MULTI_CLASS, "cross_entropy", 1), outputs=outputs)
    evidence = replace(evidence_of(WRITTEN_OUT, run=False), trace=trace([1.2] * 200, graph=model))
    assert evidence.several_outputs is several
    assert len(findings_in("RE029", evidence)) == (not several)
    assert evidence.output is None, "of two towers nobody knows which is the last"


def test_scores_of_a_list_are_no_single_class() -> None:
    """One output a row, and a loss over the rows of a list."""
    model = graph(TaskType.MULTI_CLASS, "cross_entropy", 1)
    assert model.loss is not None
    for shape, reported in (((8, 20), 0), ((8, 1), 1)):
        loss = replace(model.loss, from_logits=True, compared=(shape, (8,)), bend="none")
        evidence = Evidence(trace=trace([1.0] * 20, graph=replace(model, loss=loss)))
        assert len(tuple(detector("NL015").check(evidence))) == reported


@pytest.mark.parametrize(
    ("zeroed", "optimizers", "reported"), [(2, 2, 0), (1, 2, 1), (1, 1, 1), (0, 2, 1)]
)
def test_optimizers_in_turns_clear_their_own_gradients(
    zeroed: int, optimizers: int, reported: int
) -> None:
    run = trace([1.0] * 20)
    steps = run.steps.rows.copy()
    steps[:, run.steps.columns.index("carried")] = 1
    steps[:, run.steps.columns.index("optimizer")] = np.arange(20) % optimizers
    text = "opt.zero_grad()\n" * zeroed + "loss.backward()\n"
    run = replace(run, steps=Columns(run.steps.columns, steps))
    found = findings_in("RE010", replace(evidence_of(text, run=False), trace=run))
    assert len(found) == reported


@pytest.mark.parametrize(("every", "reported"), [(5, 1), (2, 0), (1, 0)])
def test_gradients_that_are_cleared_once_an_epoch(every: int, reported: int) -> None:
    """Sixty steps in six epochs; cleared before the loop over batches, or every fourth step, or
    always.
    """
    run = trace([2.0] * 60)
    steps = run.steps.rows.copy()
    steps[:, run.steps.columns.index("carried")] = [
        float(step % (2 * every) != 0) for step in range(60)
    ]
    if every == 1:
        steps[:, run.steps.columns.index("carried")] = 0
    run = replace(run, steps=Columns(run.steps.columns, steps))
    text = (
        "for epoch in range(6):\n    opt.zero_grad()\n    for x in data:\n        loss.backward()\n"
    )
    assert len(findings_in("RE010", replace(evidence_of(text, run=False), trace=run))) == reported


@pytest.mark.parametrize(
    ("text", "reported"),
    [("a.zero_grad()\nb.zero_grad()\n", 0), ("a.zero_grad()\n", 1)],
)
def test_optimizers_that_are_made_again_clear_their_own_gradients(text: str, reported: int) -> None:
    """Four optimizers in two trainings, two at a time."""
    run = trace([1.0] * 20)
    steps = run.steps.rows.copy()
    steps[:, run.steps.columns.index("carried")] = 1
    steps[:, run.steps.columns.index("optimizer")] = np.arange(20) % 4
    run = replace(run, steps=Columns(run.steps.columns, steps))
    text += "slower = StepLR(a, 3)\nloss.backward()\na.step()\nb.step()\nslower.step()\n"
    found = findings_in("RE010", replace(evidence_of(text, run=False), trace=run))
    assert len(found) == reported


@pytest.mark.parametrize(("bend", "reported"), [("softmax", 1), ("none", 0), ("log_softmax", 0)])
def test_a_softmax_counts_where_the_loss_is_given_it(bend: str, reported: int) -> None:
    evidence = with_loss(bend=bend)
    assert evidence.last_activation == (None if bend == "none" else bend)
    found = tuple(detector("NL015").check(evidence))
    assert [one.certainty for one in found] == [Certainty.PROOF] * reported


@pytest.mark.parametrize(("spread", "reported"), [(0.95, 1), (0.2, 0), (None, 0)])
def test_rows_that_come_sorted_by_class(spread: float | None, reported: int) -> None:
    run = trace([1.0] * 20, data=(replace(LABELS, batch_spread=spread),))
    found = findings_in("RE009", Evidence(trace=run))
    assert [one.certainty for one in found] == [Certainty.STRONG] * reported


SCALED = """
from sklearn.preprocessing import StandardScaler
scaler = StandardScaler(); x_train, x_test = train_test_split(x)
x_train = scaler.fit_transform(x_train)
x_test = scaler.{call}(x_test)
"""
IN_A_FUNCTION = """
from sklearn.preprocessing import MinMaxScaler; x_train, x_test = train_test_split(x)
def prepare(rows):
    return MinMaxScaler().fit_transform(rows)
train = prepare({first})
test = prepare({second})
"""
ENCODED = """
encoder = LabelEncoder(); y_train, y_test = train_test_split(y)
labels = encoder.fit_transform(y_train)
held_out = encoder.fit_transform(y_test)
"""


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SCALED.format(call="fit_transform"), 5),
        (SCALED.format(call="transform"), None),
        (IN_A_FUNCTION.format(first="x_train", second="x_test"), 4),
        (IN_A_FUNCTION.format(first="x_train", second="y_train"), None),
        (ENCODED, None),
    ],
)
def test_a_scaler_that_is_fitted_to_held_out_rows(text: str, line: int | None) -> None:
    evidence = replace(evidence_of(text, run=False), trace=trace([1.0] * 20))
    found = findings_in("RE007", evidence)
    assert [one.place.line for one in found if one.place] == ([line] if line else [])


VALIDATED = """
def validate(model, loader, criterion):
    model.eval()
    total = 0.0
    {around}
        total += criterion(model(x), y) * len(y)
    return {total} / len(loader.dataset)
validate(net, rows, nn.CrossEntropyLoss())
"""


@pytest.mark.parametrize(
    ("around", "total", "line"),
    [
        ("for x, y in loader:", "total", 6),
        ("for x, y in loader:", "total.item()", None),
        (
            "with torch.no_grad(): loader = list(loader)\n    for x, y in loader:",
            "total",
            None,
        ),
    ],
)
def test_a_validation_that_keeps_its_graphs(around: str, total: str, line: int | None) -> None:
    found = findings_in(
        "RE047", evidence_of(VALIDATED.format(around=around, total=total), run=False)
    )
    assert [one.place.line for one in found if one.place] == ([line] if line else [])
