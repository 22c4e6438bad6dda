"""What the trace of a known Keras training says about it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from reenact.probe.injected import FOLDER

HEAD = """
import json
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(48, 6)).astype("float32")
side = x[:, 0] > 0
right = []

class Count(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        rows = slice(batch * 24, batch * 24 + 24)
        predicted = keras.ops.convert_to_numpy(self.model(x[rows]))[:, 0] > THRESHOLD
        right.append(float((predicted == side[rows]).mean()))
"""
SIGMOID = (
    HEAD.replace("THRESHOLD", "0.5")
    + """
model = keras.Sequential([keras.layers.Dense(12, activation="relu"),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile(keras.optimizers.Adam(0.05), "binary_crossentropy")
model.fit(x, LABELS, batch_size=24, epochs=4, shuffle=False, verbose=0, callbacks=[Count()])
print(json.dumps(right))
"""
)
LOGITS = SIGMOID.replace(', activation="sigmoid"', "").replace(
    '"binary_crossentropy"', "keras.losses.BinaryCrossentropy(from_logits=True)"
)
LABELS = {
    "floats in one dimension": 'side.astype("float32")',
    "integers in one dimension": 'side.astype("int64")',
    "integers in a column": 'side.astype("int64")[:, None]',
}


@pytest.mark.parametrize("labels", LABELS)
def test_the_accuracy_of_a_single_output_is_that_of_the_program(forks: Any, labels: str) -> None:
    ran = forks.run(SIGMOID.replace("LABELS", LABELS[labels]))
    assert ran.code == 0, ran.err
    expected = json.loads(ran.out)
    assert ran.trace.steps["accuracy"] == pytest.approx(expected)
    assert len(set(expected)) > 1


LOADED = """
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(48, 6)).astype("float32")
model = keras.Sequential([keras.Input((6,)), keras.layers.Dense(12, activation="relu"),
                          keras.layers.Dense(1, activation="sigmoid")])
model.compile("adam", "binary_crossentropy")
model.fit(x, (x[:, 0] > 0).astype("float32"), epochs=2, verbose=0)
model.save("kept.keras")
again = keras.models.load_model("kept.keras")
again.predict(x, verbose=0)
"""


def test_a_model_that_is_loaded_after_the_training_is_no_part_of_it(forks: Any) -> None:
    ran = forks.run(LOADED)
    assert ran.code == 0, ran.err
    assert [layer.activation for layer in ran.trace.graph.layers] == ["relu", "sigmoid"]


STEPWISE = """
import json
import keras
import numpy as np
import torch

keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(8, 5, 4)).astype("float32")
y = np.random.default_rng(1).integers(0, 3, size=(8, 5))
model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
model.compile(keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy")
expected = float((model.predict(x, verbose=0).argmax(-1) == y).mean())
model.fit(x, y, batch_size=8, epochs=1, verbose=0)

class OfSteps(torch.nn.Module):
    def forward(self, scores, labels):
        return torch.nn.functional.cross_entropy(scores.transpose(1, 2), labels)

net, loss = torch.nn.Linear(4, 3), OfSteps()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
inputs, labels = torch.from_numpy(x), torch.from_numpy(y)
second = float((net(inputs).argmax(-1) == labels).float().mean())
loss(net(inputs), labels).backward()
optimizer.step()
print(json.dumps([expected, second]))
"""


def test_classes_may_lie_along_the_last_axis(forks: Any) -> None:
    ran = forks.run(STEPWISE)
    assert ran.code == 0, ran.err
    assert not ran.trace.happened("probe-off"), ran.trace.missing
    assert ran.trace.steps["accuracy"] == pytest.approx(json.loads(ran.out))


def test_raw_scores_are_parted_at_zero(forks: Any) -> None:
    ran = forks.run(
        LOGITS.replace("THRESHOLD", "0").replace("> 0.5", "> 0").replace("LABELS", "side * 1")
    )
    assert ran.trace.steps["accuracy"] == pytest.approx(json.loads(ran.out)), ran.err


def test_every_parameter_is_listed_once_and_followed(forks: Any) -> None:
    trace = forks.run(SIGMOID.replace("LABELS", "side * 1")).trace
    names = [facts.name for facts in trace.parameter_facts]
    assert names == [
        f"sequential/{layer}/{part}"
        for layer in ("dense", "dense_1")
        for part in ("kernel", "bias")
    ]
    for name in names:
        assert np.isfinite(trace.parameter(name, "weight_norm").values).sum() == trace.step_count, (
            name
        )


def test_a_loss_given_by_name_stands_where_it_is_named(forks: Any) -> None:
    text = SIGMOID.replace("LABELS", "side * 1")
    line = 1 + text.split("model.compile")[0].count("\n")
    graph = forks.run(text).trace.graph
    assert (graph.loss.place.line, graph.optimizer.place.line) == (line, line)


def test_variables_given_as_a_generator_are_left_to_the_optimizer(forks: Any) -> None:
    text = """
import keras
import torch

keras.utils.set_random_seed(1)
model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
optimizer = keras.optimizers.SGD(0.1)
for step in range(3):
    model.zero_grad()
    loss = (model(torch.ones(2, 3)) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        gradients = [v.value.grad for v in model.trainable_variables]
        optimizer.apply(gradients, (v for v in model.trainable_variables))
    print(loss.item())
"""
    plain, seen = forks.run(text, watched=False), forks.run(text)
    assert plain.code == 0, plain.err
    assert (seen.code, seen.out, seen.err) == (plain.code, plain.out, plain.err)
    assert seen.trace.step_count == 3


PURGED = f"""
import sys
import keras

sys.path.insert(0, {str(FOLDER)!r})
from reenact_probe.keras import graph

layer = keras.layers.Dense(2)
layer.build((None, 3))
layer.kernel._value = None
print([facts["name"] for facts in graph.weight_facts(layer)])
"""


def test_variables_whose_values_an_engine_keeps_to_itself_are_passed_over(
    forks: Any,
) -> None:
    """JAX does so while an epoch runs."""
    ran = forks.run(PURGED, watched=False)
    assert ran.out == "['bias']\n", ran.err


TRUTH_VALUES = """
import json
import keras
import numpy as np

keras.utils.set_random_seed(3)
x = np.random.default_rng(0).normal(size=(8, 4)).astype("float32")
y = np.eye(3, dtype=bool)[np.random.default_rng(1).integers(0, 3, size=8)]
model = keras.Sequential([keras.layers.Dense(3, activation="softmax")])
model.compile(keras.optimizers.Adam(0.05), "categorical_crossentropy")
expected = float((model.predict(x, verbose=0).argmax(-1) == y.argmax(-1)).mean())
model.fit(x, y, batch_size=8, epochs=1, verbose=0)
print(json.dumps([expected]))
"""


def test_labels_may_be_truth_values(forks: Any) -> None:
    ran = forks.run(TRUTH_VALUES)
    assert ran.code == 0, ran.err
    assert not ran.trace.happened("probe-off"), ran.trace.missing
    assert ran.trace.steps["accuracy"] == pytest.approx(json.loads(ran.out))


TWO_LOSSES = """
import keras
import numpy as np

keras.utils.set_random_seed(3)


class Joint(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = keras.layers.Dense(4), keras.layers.Dense(6)
        self.head = keras.layers.Dense(3)
        self.rebuilt = keras.losses.MeanSquaredError()
        self.named = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def call(self, x):
        z = self.encoder(x)
        return self.head(z), self.decoder(z)

    def train_step(self, data):
        x, y = data
        self.zero_grad()
        logits, again = self(x)
        loss = 0.3 * self.rebuilt(x, again) + self.named(y, logits)
        loss.backward()
        weights = self.trainable_weights
        self.optimizer.apply([weight.value.grad for weight in weights], weights)
        return {"loss": loss}


x = np.random.default_rng(0).normal(size=(48, 6)).astype("float32")
model = Joint()
model.compile(keras.optimizers.SGD(0.01))
model.fit(x, np.arange(48) % 3, batch_size=12, epochs=2, verbose=0, class_weight=WEIGHTS)
"""


def test_the_loss_is_the_one_that_is_given_the_labels(forks: Any) -> None:
    ran = forks.run(TWO_LOSSES.replace("WEIGHTS", "None"))
    assert ran.code == 0, ran.err
    assert ran.trace.graph.loss.name == "sparse_categorical_crossentropy"
    assert [event.facts["weighted"] for event in ran.trace.happened("fit")] == [False]
