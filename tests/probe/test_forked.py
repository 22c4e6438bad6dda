"""Training in a forked process is named; gradients cleared by hand are no carried ones; logs
know epochs.
"""

from __future__ import annotations

from typing import Any

import pytest

FORKED = """
import multiprocessing
import torch
from torch.utils.data import DataLoader

def train():
    model = torch.nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch in DataLoader(torch.randn(8, 2), batch_size=4, num_workers=WORKERS):
        optimizer.zero_grad()
        model(batch).mean().backward()
        optimizer.step()

if IN_CHILD:
    child = multiprocessing.get_context("fork").Process(target=train)
    child.start()
    child.join()
else:
    train()
"""

BY_HAND = """
import torch

torch.manual_seed(0)
net = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(6):
    for p in net.parameters():
        CLEAR
    loss = net(torch.randn(4, 3)).square().mean()
    loss.backward()
    optimizer.step()
"""


def program(*, in_child: bool, workers: int = 0) -> str:
    return FORKED.replace("IN_CHILD", str(in_child)).replace("WORKERS", str(workers))


def test_a_forked_training_is_named(forks: Any) -> None:
    ran = forks.run(program(in_child=True))
    assert ran.code == 0, ran.err
    assert ran.trace.step_count == 0
    assert any("made by fork trained" in sentence for sentence in ran.trace.missing)


def test_loading_workers_are_no_forked_training(forks: Any) -> None:
    ran = forks.run(program(in_child=False, workers=1))
    assert ran.trace.step_count == 2
    assert not any("fork" in sentence for sentence in ran.trace.missing)


CLEARED = "if p.grad is not None: "


@pytest.mark.parametrize(
    ("clear", "carried"),
    [
        ("p.grad = None", 0),
        (f"{CLEARED}p.grad.zero_()", 0),
        (f"{CLEARED}p.grad + 0", 1),
    ],
)
def test_gradients_cleared_by_hand_are_not_carried(forks: Any, clear: str, carried: int) -> None:
    trace = forks.run(BY_HAND.replace("CLEAR", clear)).trace
    assert set(trace.steps["carried"][1:]) == {carried}


RANKS = {
    "alone": ({}, True),
    "first of torchrun": ({"RANK": "0", "LOCAL_RANK": "0"}, True),
    "second of torchrun": ({"RANK": "1", "LOCAL_RANK": "1"}, False),
    "second node of torchrun": ({"RANK": "2", "LOCAL_RANK": "0"}, False),
    "second of Lightning": ({"LOCAL_RANK": "1", "NODE_RANK": "0"}, False),
    "second node of Lightning": ({"LOCAL_RANK": "0", "NODE_RANK": "1"}, False),
    "not distributed": ({"LOCAL_RANK": "-1"}, True),
}


@pytest.mark.parametrize("case", RANKS)
def test_only_the_first_of_several_processes_records(case: str, forks: Any) -> None:
    environment, records = RANKS[case]
    program = (
        "import torch\nmodel = torch.nn.Linear(2, 1)\noptimizer = "
        "torch.optim.SGD(model.parameters(), 0.1)\nmodel(torch.ones(3, "
        "2)).mean().backward()\noptimizer.step()\n"
    )
    ran = forks.run(program, environment=environment)
    assert (ran.code, ran.has_trace) == (0, records), ran.err
