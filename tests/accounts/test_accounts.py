"""What holds for the accounts of every book."""

from __future__ import annotations

import pytest

from reenact.testing.faults import evidence_of

pytestmark = pytest.mark.usefixtures("warm_python")

PARTS = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(500, 6)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(4):
    for rows in torch.randperm(500).split(50):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x[rows]), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        for part in range(0, 500, 100):
            print("accuracy", (model(x[part:part + 100]).argmax(1) == 1).float().mean().item())
"""


def test_each_entry_is_reported_once() -> None:
    accounts = evidence_of(PARTS, run=True).accounts
    assert accounts
    for account in accounts:
        facts = [(one.key, one.sentence) for one in account.entries]
        assert len(facts) == len(set(facts))
