"""Small programs of each framework for tests of patches, and what a change made of their text."""

from __future__ import annotations

import difflib

from reenact.program.edit.change import Change, Set
from reenact.program.hyperparameter import Hyperparameter
from reenact.program.patch import Patch
from reenact.program.program import Program, program_from_text
from reenact.program.static_graph import hyperparameters_of
from reenact.types import JsonValue

TORCH = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x, y = torch.randn(90, 4), torch.randint(0, 3, (90,))
loader = DataLoader(TensorDataset(x, y), batch_size=30)  # no order

model = nn.Sequential(
    nn.Linear(4, 32),  # wide
    nn.ReLU(),
    nn.Linear(32, 16),
    nn.Linear(16, 3),
)
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for epoch in range(5):
    for xb, yb in loader:
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
"""

MODULE = """\
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 8, 3)
        self.fc1 = nn.Linear(8 * 26 * 26, 64)
        self.drop = nn.Dropout(0.5)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.conv(x))
        x = x.flatten(1)
        x = self.drop(self.fc1(x))
        return torch.softmax(self.fc2(x), dim=1)
"""

KERAS = """\
import keras
from keras import layers
from keras.utils import to_categorical

x_train, y_train = load()
y_train = to_categorical(y_train, 10)
model = keras.Sequential([
    keras.Input((20,)),
    layers.Dense(64, activation="relu"),
    layers.Dropout(0.5),
    layers.Dense(10),
])
model.compile(loss="mse", optimizer="sgd", metrics=["accuracy"])
model.fit(x_train, y_train, epochs=5, batch_size=32)
"""

FUNCTIONAL = """\
import tensorflow as tf
from tensorflow.keras import layers

i = layers.Input((4,))
h = layers.Dense(8, activation='relu', name='first')(i)
h = layers.Dense(8, kernel_initializer=tf.keras.initializers.RandomNormal(stddev=0.5))(h)
o = layers.Dense(1)(h)
model = tf.keras.Model(i, o)
model.compile('adam', 'mse')
model.fit(x, y)
"""


def find(program: Program, kind: str, layer: str = "", number: int = 0) -> Hyperparameter:
    found = [
        k
        for k in hyperparameters_of(program)
        if k.kind == kind and k.id.layer == layer and k.id.number == number
    ]
    assert len(found) == 1, [str(k.id) for k in hyperparameters_of(program)]
    return found[0]


def changed(text: str, *wanted: tuple[str, str, JsonValue]) -> str:
    program = program_from_text(text)
    changes: list[Change] = [
        Set(find(program, kind, layer).id, value) for kind, layer, value in wanted
    ]
    return Patch(tuple(changes)).apply(program).entry_file.text


def lines(before: str, after: str) -> tuple[list[str], list[str]]:
    """What went and what came, stripped."""
    found = list(difflib.ndiff(before.split("\n"), after.split("\n")))
    gone = [line[2:].strip() for line in found if line.startswith("- ")]
    come = [line[2:].strip() for line in found if line.startswith("+ ")]
    return gone, come
