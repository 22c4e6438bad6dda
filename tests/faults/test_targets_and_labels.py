"""Targets that are stretched over rows, and the line that makes labels."""

from __future__ import annotations

from dataclasses import replace

import pytest

from made_evidence import KERAS, LABELS, findings_in, graph, trace
from reenact.faults.fault_type import FaultType
from reenact.faults.registry import detector
from reenact.program.graph import (
    TaskType,
)
from reenact.program.training.rows.origins import labels_made_at
from reenact.testing.faults import evidence_of, findings

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
    (found,) = findings(detector("RE033"), CURVE.format(loss=loss))
    assert found.place is not None
    assert (found.place.line, found.certainty, edit in found.saw) == (
        line,
        "proof",
        True,
    )


@pytest.mark.parametrize("loss", ["loss_of(model(x), y)", "((model(x) - y) ** 2).mean()"])
def test_a_target_of_the_shape_of_the_output(loss: str) -> None:
    assert findings(detector("RE033"), CURVE.format(loss=loss)) == ()


KERAS_CURVE = """
import keras
from reenact.testing.toys import curve
x, y = curve()
model = keras.Sequential([keras.layers.Dense(8, activation="tanh"), keras.layers.Dense({width})])
model.compile("adam", "mse")
model.fit(x, {labels}, epochs=1, verbose=0)
"""


def test_one_target_for_several_outputs_and_what_keras_adapts_itself() -> None:
    (found,) = findings(detector("RE033"), KERAS_CURVE.format(width=4, labels="y"))
    assert (found.fault, found.layer, found.certainty) == (
        FaultType.LCN,
        "dense_1",
        "strong",
    )
    assert findings(detector("RE033"), KERAS_CURVE.format(width=1, labels="y[:, 0]")) == ()


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
        ("y = read() / 255\ny = y.reshape(-1, 1)\nmodel.fit(x, y)\n", 1),
        ("model.fit(x, read())\n", None),
        ("def train(y):\n    model.fit(x, y)\n", None),
    ],
)
def test_the_line_that_makes_the_labels(text: str, line: int | None) -> None:
    made = labels_made_at(evidence_of(text, run=False).files)
    assert (made.line if made is not None else None) == line


def test_labels_that_a_loss_does_not_take_are_placed_where_they_are_made() -> None:
    text = KERAS.format(output="layers.Dense(1)", loss='"binary_crossentropy"')
    data = (replace(LABELS, minimum=-1.0, maximum=1.0, class_values=(-1, 1)),)
    run = trace([0.5] * 20, graph=graph(TaskType.BINARY, "binary_crossentropy", 1), data=data)
    there = replace(
        evidence_of(text.replace("from data import x, y", "y = f()"), run=False),
        trace=run,
    )
    (found,) = findings_in("RE004", there)
    assert found.place is not None
    assert (found.place.line, found.certainty, "at line 6" in found.saw) == (
        4,
        "proof",
        True,
    )
    (found,) = findings_in("RE004", replace(evidence_of(text, run=False), trace=run))
    assert found.place is not None
    assert found.place.line == 6


SCALED = """
import keras
from reenact.testing.toys import images
x, y = images()
x = x / 1.0
y = y / 255
y = y.reshape(-1, 1)
layers = [keras.layers.Flatten(), keras.layers.Dense(3, activation="softmax")]
model = keras.Sequential(layers)
model.compile("adam", "sparse_categorical_crossentropy")
model.fit(x, y, epochs=1, verbose=0)
"""


def test_class_numbers_that_were_scaled_are_proof_even_where_the_loss_falls() -> None:
    (found,) = findings(detector("RE004"), SCALED)
    assert found.place is not None
    assert (found.place.line, found.certainty, "not whole" in found.saw) == (
        6,
        "proof",
        True,
    )
    assert findings(detector("RE004"), SCALED.replace("y = y / 255\n", "")) == ()
