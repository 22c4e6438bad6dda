"""Reference implementation of Damped Octaves, kept apart from what the story under test may see.

python run.py --seed 0                 the three methods with the learning rate of the lineage
python run.py --seed 0 --rate 0.001    ... with the usual default, which the paper does not exclude
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

SIGNAL_OCTAVES = 5
TRAIN, GRID = 256, 1000
NOISE = 0.5


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training."""

    octaves: int = 8
    damping: float = 0.0
    hidden: int = 16
    epochs: int = 5
    batch: int = 32
    rate: float = 0.02


METHODS = {
    "Raw input": Recipe(octaves=0),
    "Octave Features": Recipe(),
    "Damped Octaves": Recipe(damping=1.0),
}


class Signal:
    """A random sum of sines and cosines, whose octaves halve in size."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.sines = rng.standard_normal(SIGNAL_OCTAVES)
        self.cosines = rng.standard_normal(SIGNAL_OCTAVES)

    def __call__(self, x: np.ndarray) -> np.ndarray:
        octave = np.arange(SIGNAL_OCTAVES)
        phase = 2 * np.pi * 2.0**octave * x[:, None]
        return ((self.sines * np.sin(phase) + self.cosines * np.cos(phase)) * 2.0**-octave).sum(
            axis=1
        )


def features(x: np.ndarray, recipe: Recipe) -> torch.Tensor:
    """The damped octave features; the number itself where there are none."""
    if recipe.octaves == 0:
        return torch.from_numpy((2 * x[:, None] - 1).astype(np.float32))
    octave = np.arange(recipe.octaves)
    phase = 2 * np.pi * 2.0**octave * x[:, None]
    size = 2.0 ** (-recipe.damping * octave)
    both = np.concatenate([size * np.sin(phase), size * np.cos(phase)], axis=1)
    return torch.from_numpy(both.astype(np.float32))


def network(inputs: int, hidden: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(inputs, hidden),
        nn.Tanh(),
        nn.Linear(hidden, hidden),
        nn.Tanh(),
        nn.Linear(hidden, 1),
    )


def train(recipe: Recipe, seed: int) -> float:
    """Explained variance of the noiseless signal on the grid, in per cent."""
    rng = np.random.default_rng(seed)
    signal = Signal(rng)
    x = rng.uniform(0.0, 1.0, TRAIN)
    y = torch.from_numpy((signal(x) + NOISE * rng.standard_normal(TRAIN)).astype(np.float32))
    torch.manual_seed(seed)
    inputs = features(x, recipe)
    model = network(inputs.shape[1], recipe.hidden)
    optimiser = torch.optim.Adam(model.parameters(), lr=recipe.rate)
    for _ in range(recipe.epochs):
        for rows in torch.randperm(TRAIN).split(recipe.batch):
            optimiser.zero_grad()
            nn.functional.mse_loss(model(inputs[rows]).squeeze(1), y[rows]).backward()
            optimiser.step()
    grid = (np.arange(GRID) + 0.5) / GRID
    with torch.no_grad():
        said = model(features(grid, recipe)).squeeze(1).numpy()
    true = signal(grid)
    return float(100 * (1 - ((said - true) ** 2).sum() / ((true - true.mean()) ** 2).sum()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rate", type=float, default=Recipe.rate)
    parser.add_argument("--method", choices=METHODS, help="this one only")
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in (given.method,) if given.method else METHODS:
        started = time.perf_counter()
        value = train(replace(METHODS[name], rate=given.rate), given.seed)
        seconds = round(time.perf_counter() - started, 2)
        print(
            json.dumps(
                {"method": name, "metric": "explained variance", "value": value, "seconds": seconds}
            )
        )


if __name__ == "__main__":
    main()
