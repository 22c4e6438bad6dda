"""Reference implementation of Earned Trust, kept apart from what the story under test may see.

python run.py --seed 0                      all four methods
python run.py --seed 0 --ablations          the rows of the ablation, and a baseline that knows the noise
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

CLASSES = 4
DISTRACTORS = 4
TRAIN, TEST = 1200, 2000


@dataclass(frozen=True)
class Recipe:
    """Everything that decides a training."""

    method: str
    noise: float = 0.4
    hidden: int = 64
    epochs: int = 60
    batch: int = 120
    rate: float = 0.01
    warmup: int = 5
    memory: float = 0.9
    power: float = 2.0
    label_share: float = 0.5
    left_out: float = 0.2
    ramp: int = 10


METHODS = ("Cross-entropy", "Shrinking Batches", "Slow Targets", "Earned Trust")
ABLATIONS = {
    "without warm-up": Recipe("Earned Trust", warmup=0),
    "without memory": Recipe("Earned Trust", memory=0.0),
    "power one": Recipe("Earned Trust", power=1.0),
    "Shrinking Batches, told the share": Recipe("Shrinking Batches", left_out=0.4),
}


def pinwheel(rng: np.random.Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Four curved arms in two dimensions, and distractors that say nothing."""
    labels = np.arange(count) % CLASSES
    along = rng.uniform(0.0, 1.0, count)
    angle = 2 * np.pi * labels / CLASSES + 2.0 * along + 0.2 * rng.standard_normal(count)
    radius = 0.2 + along
    plane = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)
    distractors = 0.5 * rng.standard_normal((count, DISTRACTORS))
    return np.concatenate([plane, distractors], axis=1).astype(np.float32), labels


def corrupted(rng: np.random.Generator, labels: np.ndarray, noise: float) -> np.ndarray:
    """Labels of which a share is moved to one of the other classes."""
    moved = rng.uniform(size=len(labels)) < noise
    shift = rng.integers(1, CLASSES, len(labels))
    return np.where(moved, (labels + shift) % CLASSES, labels)


def network(hidden: int) -> nn.Module:
    width = 2 + DISTRACTORS
    return nn.Sequential(
        nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, CLASSES)
    )


class Trainer:
    """One training; `targets` is where the methods differ."""

    def __init__(self, recipe: Recipe, seed: int) -> None:
        self.recipe = recipe
        rng = np.random.default_rng(seed)
        inputs, labels = pinwheel(rng, TRAIN)
        given = corrupted(rng, labels, recipe.noise)
        test_inputs, test_labels = pinwheel(np.random.default_rng(10_000 + seed), TEST)
        self.inputs, self.given = torch.from_numpy(inputs), torch.from_numpy(given)
        self.test = torch.from_numpy(test_inputs), torch.from_numpy(test_labels)
        torch.manual_seed(seed)
        self.model = network(recipe.hidden)
        self.optimiser = torch.optim.Adam(self.model.parameters(), lr=recipe.rate)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimiser, recipe.epochs)
        self.remembered = torch.full((TRAIN, CLASSES), 1 / CLASSES)

    def run(self) -> list[float]:
        """Test accuracy in per cent after every epoch."""
        curve = []
        for epoch in range(self.recipe.epochs):
            for rows in torch.randperm(TRAIN).split(self.recipe.batch):
                self.optimiser.zero_grad()
                self.loss(rows, epoch).backward()
                self.optimiser.step()
            self.schedule.step()
            curve.append(self.accuracy())
        return curve

    def loss(self, rows: torch.Tensor, epoch: int) -> torch.Tensor:
        logs = self.model(self.inputs[rows]).log_softmax(dim=1)
        hard = nn.functional.one_hot(self.given[rows], CLASSES).float()
        if self.recipe.method == "Shrinking Batches":
            losses = -(hard * logs).sum(dim=1)
            kept = 1 - self.recipe.left_out * min(1.0, epoch / self.recipe.ramp)
            return losses.sort().values[: max(1, round(kept * len(rows)))].mean()
        targets = hard if self.recipe.method == "Cross-entropy" else self.targets(rows, logs, hard, epoch)
        return -(targets * logs).sum(dim=1).mean()

    @torch.no_grad()
    def targets(self, rows: torch.Tensor, logs: torch.Tensor, hard: torch.Tensor, epoch: int) -> torch.Tensor:
        keep = self.recipe.memory
        memory = self.remembered[rows] = keep * self.remembered[rows] + (1 - keep) * logs.exp()
        if epoch < self.recipe.warmup:
            return hard
        if self.recipe.method == "Slow Targets":
            return self.recipe.label_share * hard + (1 - self.recipe.label_share) * memory
        ratio = (memory * hard).sum(dim=1) / memory.max(dim=1).values
        trust = (ratio**self.recipe.power).unsqueeze(1)
        return trust * hard + (1 - trust) * memory

    @torch.no_grad()
    def accuracy(self) -> float:
        inputs, labels = self.test
        return 100 * (self.model(inputs).argmax(dim=1) == labels).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--method", choices=METHODS, help="this one only")
    parser.add_argument("--ablations", action="store_true")
    given = parser.parse_args()
    torch.set_num_threads(1)
    names = (given.method,) if given.method else METHODS
    recipes = ABLATIONS if given.ablations else {name: Recipe(name) for name in names}
    for name, recipe in recipes.items():
        started = time.perf_counter()
        curve = Trainer(recipe, given.seed).run()
        seconds = round(time.perf_counter() - started, 2)
        print(json.dumps({"method": name, "metric": "accuracy", "value": curve[-1], "seconds": seconds}))


if __name__ == "__main__":
    main()
