"""What the account of models says of small programs, and of their sound twins."""

from __future__ import annotations

import pytest

from reenact.accounts import Account, AccountStatus, BookName
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

START = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(256, 6)
y = (x @ torch.randn(6, 4)).argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 4))
optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.02)
"""
CLOSURE = """
for step in range(12):
    rows = torch.randint(256, (32,))
    model.{mode}()
    def closure():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        loss.backward()
        return loss
    optimizer.step(closure)
"""
EVALUATED = """
for step in range(30):
    rows = torch.randint(256, (32,))
    model.train()
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
    optimizer.step()
    model.eval()
    held = nn.functional.cross_entropy(model(x[:64]), y[:64]).item()
"""


def account_of(program: str) -> Account:
    """The account of models of a program that is watched."""
    evidence = evidence_of(program, run=True)
    assert evidence.crash is None
    (account,) = (one for one in evidence.accounts if one.book is BookName.MODELS)
    return account


@pytest.mark.parametrize("optimizer", ["LBFGS", "Adam"])
def test_steps_that_take_a_closure_have_the_mode_of_its_passes(optimizer: str) -> None:
    program = START.replace("{optimizer}", optimizer) + CLOSURE
    (entry,) = (one for one in account_of(program.replace("{mode}", "train")).entries)
    assert "steps came from passes in training mode" in entry.sentence
    (entry,) = account_of(program.replace("{mode}", "eval")).imbalances
    assert entry.key == "stepped-in-evaluation-mode"


def test_an_evaluation_that_keeps_gradients_is_no_step() -> None:
    account = account_of(START.replace("{optimizer}", "Adam") + EVALUATED)
    assert not account.imbalances
    (entry,) = account.of(AccountStatus.BALANCES)
    assert "all 30 steps came from passes in training mode" in entry.sentence


ANOTHER = """
def make():
    return nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 4))
model, other = make(), make()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(6):
    for rows in torch.randperm(192).split(32):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
{loaded}
with torch.no_grad():
    print("test_accuracy", (other(x[192:]).argmax(1) == y[192:]).float().mean().item())
"""
TRAINED_AS_WELL = """
with torch.no_grad():
    print("trained", (model(x[192:]).argmax(1) == y[192:]).float().mean().item())
"""


def test_a_model_that_was_never_trained_is_judged() -> None:
    program = START.replace("{optimizer}", "Adam") + ANOTHER
    (entry,) = account_of(program.replace("{loaded}", "")).imbalances
    assert entry.key == "judged-never-trained"
    assert entry.place is not None
    loaded = "other.load_state_dict(model.state_dict())"
    assert not account_of(program.replace("{loaded}", loaded)).imbalances
    beside = account_of(program.replace("{loaded}", TRAINED_AS_WELL))
    assert not beside.imbalances
    assert any(one.key == "judged-never-trained" for one in beside.of(AccountStatus.FACT))


STALE = """
import copy
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(320, 6)
y = (x @ torch.randn(6, 4)).argmax(1)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 4))
held = copy.deepcopy(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(8):
    for rows in torch.randperm(256).split(32):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    {copies}
    with torch.no_grad():
        print("val_accuracy", ({judged}(x[256:]).argmax(1) == y[256:]).float().mean().item())
"""


@pytest.mark.parametrize(
    ("copies", "judged", "off"),
    [
        ("", "held", ["judged-copy-of-the-beginning"]),
        ("held.load_state_dict(model.state_dict())", "held", []),
        ("", "model", []),
    ],
)
def test_a_copy_that_is_judged_follows_the_model(copies: str, judged: str, off: list[str]) -> None:
    program = STALE.replace("{copies}", copies).replace("{judged}", judged)
    (account,) = (
        one for one in evidence_of(program, run=True).accounts if one.book is BookName.MODELS
    )
    assert [one.key for one in account.imbalances] == off


STEPPED_BY_A_LIBRARY = """
for step in range(20):
    rows = torch.randint(256, (32,))
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
    {backward}
    optimizer.step()
"""
BY_HAND = """for weight in model.parameters():
        weight.grad = torch.randn_like(weight)"""


def test_losses_that_never_go_backward_are_out_of_balance() -> None:
    program = START.replace("{optimizer}", "Adam") + STEPPED_BY_A_LIBRARY
    (entry,) = account_of(program.replace("{backward}", "pass")).imbalances
    assert (entry.key, entry.fault) == ("no-backward", "parameters-not-trained")
    assert "the optimizer stepped 20 times" in entry.sentence
    assert entry.place is not None


@pytest.mark.parametrize("backward", ["loss.backward()", BY_HAND])
def test_gradients_that_came_in_whatever_way_were_learned_from(backward: str) -> None:
    program = START.replace("{optimizer}", "Adam") + STEPPED_BY_A_LIBRARY
    assert not account_of(program.replace("{backward}", backward)).imbalances
