"""Graphs of earlier steps that a variable still holds are seen, with the variable; others are
not.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from made_evidence import findings_in
from reenact.faults.observation import Certainty
from reenact.testing.faults import evidence_of

PROGRAM = """
import torch
from torch import nn

class Average:
    def __init__(self):
        self.value = None
        self.seen = []
    def update(self, loss):
        KEEP

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(model.parameters())
average = Average()
for step in range(60):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average.update(nn.functional.mse_loss(model(x), x[:, :1]))
"""
RUNNING = "self.value = loss if self.value is None else 0.9 * self.value + 0.1 * loss"


@pytest.mark.parametrize(
    ("keep", "name"),
    [
        (RUNNING, "average.value"),
        ("self.seen.append(loss)", "average.seen"),
        (
            RUNNING.replace("* loss", "* loss.detach()").replace("= loss if", "= loss.detach() if"),
            None,
        ),
        ("self.value = loss", None),
        ("self.seen = [*self.seen, loss.item()]", None),
    ],
)
def test_what_holds_graphs_is_named_with_its_line(forks: Any, keep: str, name: str | None) -> None:
    text = PROGRAM.replace("KEEP", keep)
    run = forks.run(text).trace
    kept = run.happened("graphs-kept")
    assert [one.facts["name"] for one in kept] == ([name] if name else [])
    found = findings_in("RE047", replace(evidence_of(text, run=False), trace=run))
    line = text.splitlines().index("        " + keep) + 1
    assert [(one.place and one.place.line, one.certainty) for one in found] == (
        [(line, Certainty.PROOF)] if name else []
    )


def test_a_state_that_is_carried_over_a_few_steps_is_nothing(forks: Any) -> None:
    """The graph of an episode lives until its update, however many passes it has."""
    text = PROGRAM.replace("KEEP", "pass").replace(
        "    x = torch.randn(16, 4)\n",
        "    x = torch.randn(16, 4)\n    held = [model(x) for _ in range(30)]\n",
    )
    assert forks.run(text).trace.happened("graphs-kept") == ()


AVERAGED = """
import torch
from torch import nn
from torch.func import functional_call

class Teacher:
    def __init__(self, student):
        self.student = student
        self.weights = {name: weight.detach().clone() for name, weight in student.named_parameters()}
    def update(self):
        for name, weight in self.student.named_parameters():
            self.weights[name] = torch.lerp(self.weights[name], weightKEPT, 0.1)
    def __call__(self, x):
        return functional_call(self.student, self.weights, (x,))

torch.manual_seed(0)
student = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(student.parameters())
teacher = Teacher(student)
for step in range(40):
    x = torch.randn(16, 4)
    loss = nn.functional.mse_loss(student(x), x[:, :1]) + nn.functional.mse_loss(student(x), teacher(x))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    teacher.update()
"""


@pytest.mark.parametrize(("kept", "name"), [("", "teacher.weights"), (".detach()", None)])
def test_a_loss_that_is_computed_from_what_earlier_steps_left(
    forks: Any, kept: str, name: str | None
) -> None:
    text = AVERAGED.replace("KEPT", kept)
    run = forks.run(text).trace
    assert [one.facts["name"] for one in run.happened("graphs-kept")] == ([name] if name else [])
    found = findings_in("RE047", replace(evidence_of(text, run=False), trace=run))
    assert [one.place and one.place.line for one in found] == ([12] if name else [])
