"""Gradients are cleared where one step spends them: before its backward passes, after a step that is not
taken every time, at the beginning of a closure; what holds graphs keeps a number."""

from __future__ import annotations

import pytest

from edited_programs import at, changed, edits, renamed
from reenact.faults.fixes.gradients import (
    clear_before_backward,
    clear_gradients,
    let_go_of_graph,
    unscale_before_clipping,
)

HEAD = """
import torch
from torch import nn

model = nn.Linear(4, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
"""
PLAIN = (
    HEAD
    + """
for x, y in batches:  # all of them
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()  # here
    opt.step()
"""
)
ACCUMULATED = (
    HEAD
    + """
scaler = torch.amp.GradScaler("cpu")
for number, (x, y) in enumerate(batches):
    loss = nn.functional.cross_entropy(model(x), y) / 4
    scaler.scale(loss).backward()
    if (number + 1) % 4 == 0:
        scaler.step(opt)  # every fourth
        scaler.update()
"""
)
MICRO_BATCHES = (
    HEAD
    + """
for x, y in batches:
    for rows, labels in zip(x.split(8), y.split(8)):
        nn.functional.cross_entropy(model(rows), labels).backward()
    opt.step()
"""
)
TWO_PLAYERS = """
import torch
from torch import nn

maker, judge = nn.Linear(4, 2), nn.Linear(2, 1)
for_maker = torch.optim.SGD(maker.parameters(), lr=0.1)
for_judge = torch.optim.SGD(judge.parameters(), lr=0.1)
for x in batches:
    judge(x).mean().backward()
    (-judge(maker(x).detach()).mean()).backward()
    for_judge.step()
    judge(maker(x)).mean().backward()
    for_maker.step()
"""
CLOSURE = '''
import torch
from torch import nn

model = nn.Linear(4, 2)
opt = torch.optim.LBFGS(model.parameters())
for x, y in batches:
    def closure():
        """The loss and its gradients."""
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss
    opt.step(closure)
'''
METHODS = """
import torch
from torch import nn

class Trainer:
    def __init__(self, model):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def fit(self, batches):
        for x, y in batches:
            loss = nn.functional.cross_entropy(self.model(x), y)
            loss.backward()
            self.opt.step()
"""
CLEARED = [
    (PLAIN, ["+     opt.zero_grad()"]),
    (ACCUMULATED, ["+         opt.zero_grad()"]),
    (MICRO_BATCHES, ["+     opt.zero_grad()"]),
    (TWO_PLAYERS, ["+     for_judge.zero_grad()", "+     for_maker.zero_grad()"]),
    (CLOSURE, ["+         opt.zero_grad()"]),
    (METHODS, ["+             self.opt.zero_grad()"]),
]


@pytest.mark.parametrize(("text", "lines"), CLEARED)
def test_gradients_are_cleared_once_a_step(text: str, lines: list[str]) -> None:
    assert changed(text, clear_gradients) == lines
    (after,) = edits(text, clear_gradients)
    assert edits(after, clear_gradients) == []


def test_where_they_are_cleared() -> None:
    """After the step that is not taken every time, before the loop of smaller batches, before the
    first backward pass of a player, after the docstring of a closure.
    """
    following = {
        ACCUMULATED: "scaler.step(opt)  # every fourth\n        opt.zero_grad()",
        MICRO_BATCHES: "opt.zero_grad()\n    for rows, labels",
        TWO_PLAYERS: "for_judge.zero_grad()\n    judge(x).mean().backward()",
        CLOSURE: "opt.zero_grad()\n        loss = ",
        PLAIN: "opt.zero_grad()\n    loss.backward()  # here",
    }
    for text, lines in following.items():
        (after,) = edits(text, clear_gradients)
        assert lines in after


@pytest.mark.parametrize("text", [text for text, _ in CLEARED])
def test_the_edit_does_not_depend_on_names(text: str) -> None:
    names = {"opt": "zz", "scaler": "loss_fn", "model": "optimizer", "loss": "step_size"}
    names |= {"for_maker": "a", "for_judge": "b", "judge": "c", "maker": "d"}
    (after,) = edits(text, clear_gradients)
    (again,) = edits(renamed(text, **names), clear_gradients)
    assert again == renamed(after, **names)


def test_what_clears_between_backward_and_step_goes_first() -> None:
    late = PLAIN.replace("    opt.step()", "    opt.zero_grad()\n    opt.step()")
    (after,) = edits(late, clear_before_backward)
    assert "    opt.zero_grad()\n    loss.backward()  # here\n    opt.step()" in after
    assert after.count("zero_grad") == 1
    assert edits(after, clear_before_backward) == []


@pytest.mark.parametrize(
    ("line", "edited"),
    [
        ("total += loss", "total += loss.item()"),
        ("total += loss * len(x)", "total += loss.item() * len(x)"),
        ("kept.append(loss)", "kept.append(loss.item())"),
        ("total = total + loss", "total = total + loss.item()"),
        ("kept.append(loss + 1)", "kept.append((loss + 1).item())"),
    ],
)
def test_what_is_kept_of_a_loss_is_its_number(line: str, edited: str) -> None:
    text = PLAIN.replace("    opt.step()", f"    opt.step()\n    {line}  # of the epoch")

    def make(evidence):  # type: ignore[no-untyped-def]
        return let_go_of_graph(evidence, at(text, line))

    first, second = edits(text, make)
    assert f"    {edited}  # of the epoch\n" in first
    assert ".detach()" in second


def test_gradients_are_unscaled_before_they_are_clipped() -> None:
    text = ACCUMULATED.replace(
        "        scaler.step(opt)",
        "        nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n        scaler.step(opt)",
    )
    lines = changed(text, lambda one: unscale_before_clipping(one, at(text, "nn.utils.clip")))
    assert lines == ["+         scaler.unscale_(opt)"]
