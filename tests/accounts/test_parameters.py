"""What the account of parameters says of small programs, and of their sound twins."""

from __future__ import annotations

import pytest

from reenact.accounts import Account, BookName
from reenact.diagnosis.judge import diagnose_evidence
from reenact.diagnosis.options import DiagnoseOptions
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

TAKE_TURNS = """
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(256, 6), torch.randn(256, 1)
one, other = (nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)) for _ in range(2))
first = torch.optim.Adam(one.parameters(), lr=0.01{decay})
second = torch.optim.Adam(other.parameters(), lr=0.01{decay})
for step in range(120):
    rows = torch.randint(256, (32,))
    first.zero_grad()
    nn.functional.mse_loss(one(x[rows]), y[rows]).backward()
    first.step()
    second.zero_grad()
    ({share} * nn.functional.mse_loss(other(x[rows]), one(x[rows]).detach())).backward()
    second.step()
"""


def account_of(program: str) -> Account:
    """The account of parameters of a program that is watched."""
    evidence = evidence_of(program, run=True)
    assert evidence.crash is None
    (account,) = (one for one in evidence.accounts if one.book is BookName.PARAMETERS)
    return account


def test_optimizers_that_take_turns_are_read_at_their_own_steps() -> None:
    program = TAKE_TURNS.replace("{decay}", "").replace("{share}", "1")
    evidence = evidence_of(program, run=True)
    assert evidence.trace is not None
    assert evidence.trace.books is not None
    book = evidence.trace.books.parameters
    assert book is not None
    assert all(one.stepped >= 10 and one.spent == one.stepped for one in book.tensors)
    assert account_of(program).imbalances == ()


def test_a_part_that_only_decays_does_not_balance() -> None:
    program = TAKE_TURNS.replace("{decay}", ", weight_decay=0.1").replace("{share}", "0")
    (entry,) = account_of(program).imbalances
    assert entry.key == "moved-without-gradient"


FORGOTTEN = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())
model = nn.Sequential(body, nn.Linear(32, 3))
optimizer = torch.optim.Adam(model[1].parameters(), lr=0.02)
for step in range(60):
    rows = torch.randint(256, (32,))
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
    optimizer.step()
"""


def test_several_layers_that_never_train_are_one_finding() -> None:
    found = diagnose_evidence(evidence_of(FORGOTTEN, run=True), DiagnoseOptions()).findings
    named = [one for one in found if one.headline.fault_name == "parameters-not-trained"]
    assert len(named) == 1
    assert {"RE013", "RE120"} <= {one.code for one in named[0].witnesses}
