"""Layers drop in training alone, are given rows of their shape, and loops clear gradients once a step."""

from __future__ import annotations

from edited_programs import at, changed, edits, refusal
from reenact.faults.fixes.layers import (
    clear_once_a_step,
    drop_in_training_alone,
    flatten_before,
    give_back_sequences,
    shuffle_rows,
)

MODEL = """
import torch.nn.functional as F
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Conv2d(1, 4, 3)
        self.head = nn.Linear(144, 3)

    def forward(me, x):
        x = F.dropout(me.body(x), 0.2)  # some
        return me.head(x)
"""


def test_a_function_that_drops_follows_the_mode() -> None:
    lines = changed(MODEL, drop_in_training_alone)
    assert lines[1] == "+         x = F.dropout(me.body(x), 0.2, training=me.training)  # some"
    (after,) = edits(MODEL, drop_in_training_alone)
    assert refusal(after, drop_in_training_alone).startswith(
        "The function that drops belongs to no"
    )


def test_a_dense_layer_is_given_rows() -> None:
    text = MODEL.replace("me", "self")
    (after,) = edits(text, lambda one: flatten_before(one, at(text, "nn.Linear")))
    assert "return self.head(x.flatten(1))" in after
    text = "from torch import nn\nmodel = nn.Sequential(nn.Conv2d(1, 4, 3), nn.Linear(9, 2))\n"
    (after,) = edits(text, lambda one: flatten_before(one, at(text, "nn.Linear")))
    assert "nn.Sequential(nn.Conv2d(1, 4, 3), nn.Flatten(), nn.Linear(9, 2))\n" in after


def test_a_recurrent_layer_gives_every_step_to_the_next() -> None:
    text = (
        "import keras\nmodel = keras.Sequential([\n    keras.layers.LSTM(8),  # first\n"
        "    keras.layers.GRU(8),\n])\n"
    )
    (after,) = edits(text, lambda one: give_back_sequences(one, at(text, "GRU")))
    assert "    keras.layers.LSTM(8, return_sequences=True),  # first\n" in after


SMALLER = """
import torch
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in batches:
    for rows, labels in parts(x, y):
        opt.zero_grad()  # again
        loss_of(model(rows), labels).backward()
    opt.step()
"""


def test_gradients_are_cleared_before_the_smaller_batches() -> None:
    (after,) = edits(SMALLER, clear_once_a_step)
    cleared = "    opt.zero_grad()\n    for rows, labels in parts(x, y):\n        loss_of"
    assert cleared in after
    assert edits(after, clear_once_a_step) == []


def test_a_loader_that_trains_shuffles() -> None:
    text = (
        "from torch.utils.data import DataLoader\nloader = DataLoader(rows, batch_size=8)\n"
        "for x, y in loader:\n    loss_of(model(x), y).backward()\n    opt.step()\n"
    )
    (after,) = edits(text, shuffle_rows)
    assert "DataLoader(rows, batch_size=8, shuffle=True)\n" in after
    assert edits(after, shuffle_rows) == []
