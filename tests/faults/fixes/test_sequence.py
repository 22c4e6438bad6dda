"""Sequences are shifted once, keep their rows apart, and end where an episode ends."""

from __future__ import annotations

import ast

import pytest

from edited_programs import at, changed, edits, read, refusal
from reenact.faults.fixes.sequence import batch_first, end_of_episode, shift_once
from reenact.program.syntax.pieces import is_sum, within

LABELS = """
from torch.nn import functional as F

ids = rows[:, :-1]
labels = rows[:, 1:]
out = model(ids)
loss = F.cross_entropy(out[:, :-1].flatten(0, 1), labels[:, 1:].flatten())
loss.backward()
"""


def test_shifts_by_two_become_shifts_by_one() -> None:
    text = "out = model(text[:, :-2])\nloss = F.cross_entropy(out, text[:, 2:])\n"
    first, *_ = edits(text, shift_once)
    assert first == text.replace(":-2", ":-1").replace("2:", "1:")


def test_of_two_shifts_one_goes() -> None:
    every = edits(LABELS, shift_once)
    assert any("labels = rows[:, :-1]\n" in one for one in every)
    for one in every:
        assert one.count("1:") < LABELS.count("1:") or one.count("roll") < LABELS.count("roll")


def test_a_roll_goes() -> None:
    text = "labels = ids.roll(-1, 1)\nout = model(ids, labels=labels)\n"
    assert changed(text, shift_once) == ["- labels = ids.roll(-1, 1)", "+ labels = ids"]


RECURRENT = """
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.LSTM(4, 16)  # of the steps
        self.head = nn.Linear(16, 2)

    def forward(self, x):
        out, (h, c) = self.body(x)
        return self.head(h.view(len(x), -1))
"""


def test_a_recurrent_layer_takes_the_batch_first() -> None:
    where = at(RECURRENT, "nn.LSTM")
    first, *_ = edits(RECURRENT, lambda one: batch_first(one, where))
    assert "self.body = nn.LSTM(4, 16, batch_first=True)  # of the steps\n" in first
    reason = refusal(first, lambda one: batch_first(one, where))
    assert reason == "Which axis is the batch is not seen at this line."


def test_states_of_the_layers_are_joined_row_by_row() -> None:
    text = RECURRENT.replace("LSTM(4, 16)", "LSTM(4, 16, batch_first=True)")
    (after,) = edits(text, lambda one: batch_first(one, at(text, "h.view")))
    assert "self.head(h.transpose(0, 1).reshape(len(x), -1))" in after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x.transpose(0, 1)", "x"),
        ("x.transpose(0, 2)", "x.transpose(1, 2)"),
        ("x.softmax(0)", "x.softmax(-1)"),
    ],
)
def test_the_rows_stay_on_the_first_axis(before: str, after: str) -> None:
    text = f"y = {before}  # here\n"
    first, *_ = edits(text, lambda one: batch_first(one, at(text, "y =")))
    assert first == f"y = {after}  # here\n"


TARGET = """
def update(batch):
    states, following, rewards, over = batch
    target = rewards + gamma * critic(following)  # one step
    return target
"""


def test_no_value_is_added_after_the_end() -> None:
    node = next(
        one for one in within(read(TARGET).files[0].tree, ast.BinOp) if is_sum(one, ast.Add)
    )
    first, second = edits(TARGET, lambda one: end_of_episode(one, node, {"over"}))
    line = "    target = rewards + gamma * critic(following) * (1 - 1.0 * over{})  # one step\n"
    assert line.format("") in first
    assert line.format(".unsqueeze(-1)") in second
    reason = refusal(TARGET, lambda one: end_of_episode(one, node, {"elsewhere"}))
    assert reason.startswith("What says that an episode is over is not at hand")
