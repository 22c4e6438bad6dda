"""A given seed takes the place of the program's own global seeds; explicit generators keep
theirs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reenact.probe.options import WatchOptions

PROGRAM = """
import json, random
import numpy as np
import torch
import keras

random.seed(7)
np.random.seed(7)
torch.manual_seed(7)
seen = {"random": random.random(), "numpy": np.random.rand(), "torch": torch.rand(1).item()}
keras.utils.set_random_seed(7)
seen["keras"] = [keras.random.uniform((1,)).tolist(), np.random.rand(), torch.rand(1).item()]
own = torch.Generator().manual_seed(42)
split = torch.utils.data.random_split(range(20), [15, 5], generator=own)
kept = {"split": list(split[1].indices), "rng": np.random.default_rng(42).random(),
        "state": np.random.RandomState(42).rand(), "random": random.Random(42).random()}
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
losses = []
for step in range(4):
    optimizer.zero_grad()
    loss = model(torch.randn(5, 3)).square().mean()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
print(json.dumps({"seen": seen, "kept": kept, "losses": losses}))
"""


@pytest.fixture(scope="module")
def drawn(forks: Any) -> dict[str, Any]:
    """What the program drew: with its own seeds (7), with seed 7 given, with seed 1 given."""
    runs = {"own": None, "seven": 7, "one": 1}
    options = {name: WatchOptions(Path(), seed=seed) for name, seed in runs.items()}
    return {
        name: json.loads(forks.run(PROGRAM, options=wish).out) for name, wish in options.items()
    }


def test_different_seeds_give_different_draws_in_every_library(
    drawn: dict[str, Any],
) -> None:
    for source in ("random", "numpy", "torch"):
        assert drawn["one"]["seen"][source] != drawn["own"]["seen"][source], source
    for place in range(3):
        assert drawn["one"]["seen"]["keras"][place] != drawn["seven"]["seen"]["keras"][place]
    assert drawn["one"]["losses"] != drawn["seven"]["losses"]


def test_the_same_seed_gives_the_same_training(drawn: dict[str, Any]) -> None:
    assert drawn["seven"] == drawn["own"]


def test_explicit_generators_keep_their_seeds(drawn: dict[str, Any]) -> None:
    assert drawn["one"]["kept"] == drawn["seven"]["kept"] == drawn["own"]["kept"]


def test_without_a_seed_the_programs_own_seeds_stand(drawn: dict[str, Any]) -> None:
    import random

    import numpy as np

    assert drawn["own"]["seen"]["random"] == random.Random(7).random()
    assert drawn["own"]["seen"]["numpy"] == np.random.RandomState(7).rand()
