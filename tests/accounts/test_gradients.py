"""The account of gradients: each imbalance with a program that shows it, and sound ones that do not."""

from __future__ import annotations

import pytest

from made_evidence import findings_in
from reenact.accounts import Account, AccountStatus, BookName, Entry
from reenact.faults import Evidence
from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

HEAD = """
import torch
from torch import nn
torch.manual_seed(0)
x, y = torch.randn(64, 8), torch.randint(3, (64,))
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
loss_of = nn.CrossEntropyLoss()
"""


def seen(text: str) -> Evidence:
    return evidence_of(HEAD + text, run=True)


def account(text: str) -> Account:
    (found,) = (one for one in seen(text).accounts if one.book is BookName.GRADIENTS)
    return found


def keys(text: str) -> list[str]:
    return [one.key for one in account(text).imbalances]


def entry(text: str, key: str) -> Entry:
    return next(one for one in account(text).entries if one.key == key)


FORGOTTEN = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(12):
    {first}
    for rows in torch.arange(64).chunk(4):
        {each}
        loss_of(model(x[rows]), y[rows]).backward()
        optimizer.step()
"""


def test_gradients_that_are_never_cleared_are_spent_again() -> None:
    text = FORGOTTEN.format(first="pass", each="pass")
    found = entry(text, "spent-again")
    assert found.status is AccountStatus.IMBALANCE
    assert (found.fault, found.is_proof) == ("missing-zero-grad", True)
    assert "46 of 46 steps of SGD" in found.sentence or "47 of 47" in found.sentence
    assert len(findings_in("RE010", seen(text))) == 1


@pytest.mark.parametrize(
    "clears",
    [
        "optimizer.zero_grad()",
        "model.zero_grad(set_to_none=False)",
        "[weight.grad.zero_() for weight in model.parameters() if weight.grad is not None]",
        "[setattr(weight, 'grad', None) for weight in model.parameters()]",
    ],
)
def test_however_they_are_cleared_they_balance(clears: str) -> None:
    text = FORGOTTEN.format(first="pass", each=clears)
    assert keys(text) == []
    assert "each backward pass is spent by one step" in entry(text, "spending").sentence
    assert findings_in("RE010", seen(text)) == ()


def test_gradients_that_are_cleared_once_an_epoch_are_spent_again() -> None:
    text = FORGOTTEN.format(first="optimizer.zero_grad()", each="pass")
    assert keys(text) == ["spent-again"]
    assert len(findings_in("RE010", seen(text))) == 1


ACCUMULATED = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(12):
    {first}
    for rows in torch.arange(64).chunk(4):
        {each}
        (loss_of(model(x[rows]), y[rows]) / 4).backward()
    optimizer.step()
    {last}
"""


def test_accumulated_gradients_are_spent_once() -> None:
    text = ACCUMULATED.format(first="pass", each="pass", last="optimizer.zero_grad()")
    assert keys(text) == []
    assert "each 4 backward passes are spent by one step" in entry(text, "spending").sentence


def test_gradients_that_are_cleared_before_a_step_are_thrown_away() -> None:
    text = ACCUMULATED.format(first="pass", each="optimizer.zero_grad()", last="pass")
    found = entry(text, "thrown-away")
    assert found.status is AccountStatus.IMBALANCE
    assert found.sentence.startswith("75% of all gradients never reach a step: 36 of 48")
    assert found.place is not None
    assert (
        found.place.line
        == (HEAD + text)
        .splitlines()
        .index("        (loss_of(model(x[rows]), y[rows]) / 4).backward()")
        + 1
    )


def test_gradients_that_are_cleared_between_backward_and_step() -> None:
    text = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    loss_of(model(x), y).backward()
    optimizer.zero_grad()
    optimizer.step()
"""
    assert "cleared-before-step" in keys(text) or "thrown-away" in keys(text)


PARTS = """
encoder, head = model[0], model[2]
one = torch.optim.SGD(encoder.parameters(), lr=0.01)
two = torch.optim.SGD(head.parameters(), lr=0.01)
for step in range(20):
    one.zero_grad()
    {second}
    loss_of(model(x), y).backward()
    one.step()
    two.step()
"""


def test_the_second_optimizer_of_a_model_is_not_cleared() -> None:
    text = PARTS.format(second="pass")
    (found,) = account(text).imbalances
    assert found.fault == "missing-zero-grad"
    assert found.place is not None
    assert (HEAD + text).splitlines()[found.place.line - 1].strip() == "two.step()"
    assert keys(PARTS.format(second="two.zero_grad()")) == []


ADVERSARIES = """
judge = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 1))
maker = nn.Linear(4, 8)
of_judge = torch.optim.Adam(judge.parameters(), lr=0.001)
of_maker = torch.optim.Adam(maker.parameters(), lr=0.001)
log = nn.BCEWithLogitsLoss()
for step in range(30):
    made = maker(torch.randn(64, 4))
    of_judge.zero_grad()
    (log(judge(x), torch.ones(64, 1)) + log(judge(made.detach()), torch.zeros(64, 1))).backward()
    of_judge.step()
    of_maker.zero_grad()
    log(judge(made), torch.ones(64, 1)).backward()
    of_maker.step()
"""

ATTACKED = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    rows = x.clone().requires_grad_()
    for turn in range(2):
        optimizer.zero_grad()
        loss_of(model(rows), y).backward()
        rows = (rows + 0.1 * rows.grad.sign()).detach().requires_grad_()
    optimizer.zero_grad()
    loss_of(model(rows), y).backward()
    optimizer.step()
"""

SHARPNESS = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    moved = []
    for turn in range(2):
        optimizer.zero_grad()
        loss_of(model(x), y).backward()
        if turn == 0:
            for weight in model.parameters():
                change = 0.05 * weight.grad / (weight.grad.norm() + 1e-9)
                weight.data.add_(change)
                moved.append((weight, change))
    for weight, change in moved:
        weight.data.sub_(change)
    optimizer.step()
"""

SURGERY = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(20):
    kept = []
    for classes in (y, 2 - y):
        optimizer.zero_grad()
        loss_of(model(x), classes).backward()
        kept.append([weight.grad.clone() for weight in model.parameters()])
    for weight, one, two in zip(model.parameters(), *kept):
        weight.grad = one + 0.5 * two
    optimizer.step()
"""

CLOSURES = """
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=4)
def closure():
    optimizer.zero_grad()
    loss = loss_of(model(x), y)
    loss.backward()
    return loss
for step in range(10):
    optimizer.step(closure)
"""

CLIPPED = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(30):
    optimizer.zero_grad()
    loss_of(model(x), y).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.1)
    optimizer.step()
"""

SPARSE = """
table = nn.Embedding(20, 8, sparse=True)
optimizer = torch.optim.SGD([*table.parameters(), *model.parameters()], lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    loss_of(model(table(torch.randint(20, (64,)))), y).backward()
    optimizer.step()
"""

BY_HAND = """
for step in range(20):
    loss_of(model(x), y).backward()
    with torch.no_grad():
        for weight in model.parameters():
            weight -= 0.1 * weight.grad
            weight.grad = None
"""

SCALED = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(20):
    optimizer.zero_grad()
    scaler.scale(loss_of(model(x), y)).backward()
    scaler.step(optimizer)
    scaler.update()
"""

SOUND = {
    "adversaries": ADVERSARIES,
    "attacked": ATTACKED,
    "sharpness": SHARPNESS,
    "surgery": SURGERY,
    "closures": CLOSURES,
    "clipped": CLIPPED,
    "sparse": SPARSE,
    "by-hand": BY_HAND,
    "scaled": SCALED,
}


@pytest.mark.parametrize("name", SOUND)
def test_sound_trainings_balance(name: str) -> None:
    evidence = seen(SOUND[name])
    assert evidence.trace is not None
    assert not [one for one in evidence.trace.missing if "book" in one]
    assert keys(SOUND[name]) == []


def test_a_loss_without_a_way_to_the_weights_brings_no_income() -> None:
    text = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    (loss_of(model(x), y) * 0.0).backward()
    optimizer.step()
"""
    assert keys(text) == ["no-income"]


OVERFLOWS = """
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    loss = loss_of(model(x), y) * float("inf")
    loss.backward()
    if all(bool(weight.grad.isfinite().all()) for weight in model.parameters()):
        optimizer.step()
"""


def test_a_scale_that_always_overflows_never_lets_a_step_come() -> None:
    assert keys(OVERFLOWS) == ["no-step"]


def test_a_training_without_a_step_is_a_finding() -> None:
    (found,) = findings_in("RE100", seen(OVERFLOWS))
    assert found.is_root_cause


COLLECTED_TERMS = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.rand(256, 32)
encoder = nn.Linear(32, 8)
decoder = nn.Linear(4, 32)
optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.01)
for step in range(60):
    optimizer.zero_grad()
    for rows in torch.randperm(256)[:128].split(32):
        mean, log_var = encoder(x[rows]).chunk(2, 1)
        code = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        reconstruction = nn.functional.mse_loss(decoder(code), x[rows]{reduction})
        divergence = -0.5 * torch.sum(1 + log_var - mean**2 - log_var.exp())
        ((reconstruction + divergence) / 4).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(("reduction", "off"), [("", True), (', reduction="sum"', False)])
def test_micro_batches_are_no_terms_of_a_loss(reduction: str, off: bool) -> None:
    program = COLLECTED_TERMS.replace("{reduction}", reduction)
    evidence = evidence_of(program, run=True, experiments=True)
    first = evidence.experiments.terms[0]
    assert {one.alike for one in first.terms} == {4}
    (account,) = (one for one in evidence.accounts if one.book is BookName.GRADIENTS)
    assert ("terms-reduced-unlike" in {one.key for one in account.imbalances}) is off


def test_losses_of_heads_of_their_own_stay_terms() -> None:
    program = """
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(128, 8), torch.randn(128, 3)
body = nn.Linear(8, 16)
heads = nn.ModuleList(nn.Linear(16, 1) for _ in range(3))
model = nn.ModuleList([body, heads])
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(40):
    optimizer.zero_grad()
    hidden = torch.relu(body(x))
    losses = [nn.functional.mse_loss(head(hidden), y[:, i : i + 1]) for i, head in enumerate(heads)]
    sum(losses).backward()
    optimizer.step()
"""
    terms = evidence_of(program, run=True, experiments=True).experiments.terms[0].terms
    assert [one.alike for one in terms] == [1, 1, 1]
