"""On a device the books begin copies and read them after the look: what they come to is the same, and they
wait once a look at most. Here every tensor is taken for one on a device.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reenact.accounts import accounts_of
from reenact.probe.options import WatchOptions
from reenact.probe.trace import Experiments

DEVICE = """
import sys
import torch

transfer = sys.modules["reenact_probe.torch.transfer"]
begun, finished = [], []


class Device(transfer.Transfer):
    def is_away(self, tensor):
        return True

    def begin(self, tensor):
        begun.append(torch.full_like(tensor, 0))
        self.coming = [*getattr(self, "coming", []), (begun[-1], tensor.clone())]
        return begun[-1]

    def finish(self):
        coming, self.coming = getattr(self, "coming", []), []
        for there, values in coming:
            there.copy_(values)
        finished.append(bool(coming))


for name in ("is_away", "begin", "finish"):
    setattr(transfer.Transfer, name, vars(Device)[name])
"""
START = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.randn(320, 6)
y = (x @ torch.randn(6, 4)).argmax(1)
train = DataLoader(TensorDataset(x[:256], y[:256]), batch_size=32, shuffle=True)
held = DataLoader(TensorDataset(x[224:], y[224:]), batch_size=32)
model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)


def evaluate():
    model.eval()
    right = 0
    with torch.no_grad():
        for rows, labels in held:
            right += int((model(rows).argmax(1) == labels).sum())
    print(f"val_accuracy {right / 96:.4f}")
    model.train()
"""
LOADERS = """
for epoch in range(6):
    for rows, labels in train:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(rows), labels).backward()
        optimizer.step()
    evaluate()
"""
COLLECTED = """
for epoch in range(6):
    for number, rows in enumerate(torch.randperm(256).split(16)):
        (nn.functional.cross_entropy(model(x[rows]), y[rows]) / 4).backward()
        if number % 4 == 3:
            optimizer.step()
            optimizer.zero_grad()
    evaluate()
"""
NEVER_CLEARED = """
for step in range(40):
    rows = torch.randint(256, (32,))
    nn.functional.cross_entropy(model(x[rows]), y[torch.randint(256, (32,))]).backward()
    optimizer.step()
"""
WHOLE = """
for step in range(40):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
evaluate()
"""
COUNTED = """
print("waits", sum(finished))
"""


def _watched(forks: Any, script: Path, text: str) -> Any:
    script.write_text(text)
    ran = forks.run(script, cwd=script.parent, options=WatchOptions(Path(), preset="deep"))
    assert ran.code == 0, ran.err
    assert not any("the book of" in line for line in ran.trace.missing), ran.trace.missing
    return ran


@pytest.mark.parametrize("program", [LOADERS, COLLECTED, NEVER_CLEARED, WHOLE])
def test_what_comes_over_later_comes_to_the_same(program: str, tmp_path: Path, forks: Any) -> None:
    text = START + program
    at_once = _watched(forks, tmp_path / "train.py", "\n" * DEVICE.count("\n") + text)
    later = _watched(forks, tmp_path / "train.py", DEVICE + text + COUNTED)
    both = [
        [[entry.sentence for entry in one.entries] for one in accounts_of(ran.trace, Experiments())]
        for ran in (at_once, later)
    ]
    assert both[0] == both[1] != []
    waits = int(later.out.split("waits ")[1])
    books = later.trace.books
    assert 0 < waits <= 2 * books.gradients.looks + 20
