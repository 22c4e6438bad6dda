"""What the account of parameters says of small programs, and of their sound twins."""

from __future__ import annotations

import pytest

from reenact.accounts import Account, BookName
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
