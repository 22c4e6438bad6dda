"""A share of the training data: what is cut, what stays whole, and that it is counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from reenact.program.program import read_program
from reenact.trials.pool import ProcessPool
from reenact.trials.trial import Outcome, Trial

pytestmark = pytest.mark.frameworks

KERAS = """import os
os.environ.setdefault("KERAS_BACKEND", "torch")
import keras, numpy as np
from keras.layers import Dense

x = np.arange(1200, dtype="float32").reshape(300, 4) / 1200
y = (np.arange(300) % 7 == 0).astype("float32")
model = keras.Sequential([keras.Input((4,)), Dense(1, activation="sigmoid")])
model.compile(loss="mse", optimizer="sgd", metrics=["mae"])
"""
TORCH = """import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

x = torch.arange(1200.0).reshape(300, 4) / 1200
y = x.sum(1, keepdim=True)
train = DataLoader(TensorDataset(x, y), batch_size=10, shuffle=True)
held = DataLoader(TensorDataset(x, y), batch_size=10)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for rows, targets in train:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(rows), targets).backward()
    optimizer.step()
print("rows:", len(train.dataset.tensors[0]))
print("test batches:", len(held), "test loss:", nn.functional.mse_loss(model(x), y).item())
"""
BY_HAND = TORCH.replace("in train:", "in zip(x.split(10), y.split(10)):")
OWN = BY_HAND.replace("shuffle=True", "shuffle=False")
WAYS = {
    "arrays": KERAS + "model.fit(x, y, batch_size=10, verbose=0, validation_data=(x, y))\n",
    "split": KERAS + "model.fit(x, y, batch_size=10, verbose=0, validation_split=0.2)\n",
    "few": KERAS + "model.fit(x[:100], y[:100], batch_size=10, verbose=0)\n",
    "loader": TORCH,
    "own": OWN,
}


@pytest.fixture(scope="module")
def seen(
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[Outcome, Outcome]]:
    """The whole training and one of half the data."""
    trials = []
    for way, text in WAYS.items():
        folder = tmp_path_factory.mktemp(way)
        (folder / "train.py").write_text(text)
        program = read_program(("train.py",), folder)
        trials += [Trial(program, seed=1), Trial(program, seed=1, data=0.5)]
    with ProcessPool(2) as pool:
        found = iter(pool.run(trials))
    return {way: (next(found), next(found)) for way in WAYS}


@pytest.mark.parametrize(("way", "steps"), [("arrays", 30), ("split", 24), ("loader", 30)])
def test_half_the_data_is_half_the_steps(
    seen: dict[str, tuple[Outcome, Outcome]], way: str, steps: int
) -> None:
    whole, half = seen[way]
    assert (whole.steps, whole.cut) == (steps, 0)
    assert (half.steps, half.cut) == (steps // 2, 1)


@pytest.mark.parametrize("way", ["few", "own"])
def test_what_cannot_be_cut_is_trained_whole_and_not_counted(
    seen: dict[str, tuple[Outcome, Outcome]], way: str
) -> None:
    whole, half = seen[way]
    assert half.cut == 0
    assert half.metrics == whole.metrics


def test_evaluation_data_stay_whole(seen: dict[str, tuple[Outcome, Outcome]]) -> None:
    whole, half = seen["loader"]
    assert whole.metrics.keys() == half.metrics.keys()
    assert {"val_loss", "val_mae"} <= seen["split"][1].metrics.keys()


def test_the_share_is_part_of_the_key(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TORCH)
    program = read_program(("train.py",), tmp_path)
    assert len({Trial(program, data=share).key for share in (1.0, 0.5, 0.25)}) == 3
