"""Gaussian blobs on a circle, some of them with the wrong label."""

import numpy as np
import torch


def blobs(count: int, classes: int, rng: np.random.Generator) -> tuple[torch.Tensor, torch.Tensor]:
    labels = np.arange(count) % classes
    angle = 2 * np.pi * labels / classes
    centres = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    inputs = centres + 0.4 * rng.standard_normal((count, 2))
    return torch.from_numpy(inputs.astype(np.float32)), torch.from_numpy(labels).long()


def wrong(labels: torch.Tensor, share: float, classes: int, rng: np.random.Generator) -> torch.Tensor:
    """Each label is moved to another class with probability `share`."""
    moved = torch.from_numpy(rng.uniform(size=len(labels)) < share)
    shift = torch.from_numpy(rng.integers(1, classes, len(labels)))
    return torch.where(moved, (labels + shift) % classes, labels)
