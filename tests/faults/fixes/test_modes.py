"""Models are judged in evaluation mode and train in training mode."""

from __future__ import annotations

from edited_programs import at, changed, edits, renamed
from reenact.faults.fixes.modes import evaluate, train, update_statistics

LOOP = """
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(9):
    for x, y in batches:
        opt.zero_grad()
        nn.functional.cross_entropy(net(x), y).backward()
        opt.step()
    with torch.no_grad():  # how good
        right = (net(held).argmax(1) == labels).sum()
"""


def test_what_judges_is_switched_over_and_back() -> None:
    (after,) = edits(LOOP, lambda one: evaluate(one, at(LOOP, "right")))
    lines = "    with torch.no_grad():  # how good\n        right = (net(held).argmax(1) == labels).sum()\n"
    assert f"    net.eval()\n{lines}    net.train()" in after
    assert edits(after, lambda one: evaluate(one, at(after, "right"))) == []
    names = {"net": "a", "opt": "b", "right": "c"}
    other = renamed(LOOP, **names)
    assert edits(other, lambda one: evaluate(one, at(other, "c = "))) == [renamed(after, **names)]


def test_where_each_epoch_switches_to_training_nothing_switches_back() -> None:
    text = LOOP.replace("    for x, y", "    net.train()\n    for x, y")
    lines = changed(text, lambda one: evaluate(one, at(text, "right")))
    assert lines == ["+     net.eval()"]


def test_a_method_that_is_not_called_is_called() -> None:
    text = "model.eval  # before\n"
    assert edits(text, lambda one: evaluate(one, at(text, "model"))) == ["model.eval()  # before\n"]


def test_a_step_of_keras_that_judges_does_not_train() -> None:
    text = (
        "import keras\nclass Model(keras.Model):\n    def test_step(self, data):\n"
        "        return self(data, training=True)\n"
    )
    (after,) = edits(text, lambda one: evaluate(one, at(text, "return")))
    assert "self(data, training=False)" in after


def test_each_epoch_trains_in_training_mode() -> None:
    text = LOOP.replace("    with torch", "    net.eval()\n    with torch")
    (after,) = edits(text, train)
    assert "for epoch in range(9):\n    net.train()\n    for x, y" in after
    assert edits(after, train) == []


def test_statistics_of_an_average_are_computed() -> None:
    text = """
import torch
from torch.optim.swa_utils import AveragedModel
average = AveragedModel(model)
for epoch in range(9):
    for x in loader:
        step(model(x))
    average.update_parameters(model)
average.eval()
"""
    (after,) = edits(text, lambda one: update_statistics(one, at(text, "average =")))
    assert "torch.optim.swa_utils.update_bn(loader, average)\naverage.eval()" in after
