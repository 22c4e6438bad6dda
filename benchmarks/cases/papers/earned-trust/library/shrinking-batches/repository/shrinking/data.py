"""Two noisy crescents, some of them with the wrong label."""

import numpy as np
import torch


def crescents(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    labels = np.arange(count) % 2
    angle = np.pi * rng.uniform(size=count)
    x = np.where(labels == 0, np.cos(angle), 1.0 - np.cos(angle))
    y = np.where(labels == 0, np.sin(angle), 0.5 - np.sin(angle))
    inputs = np.stack([x, y], axis=1) + 0.2 * rng.standard_normal((count, 2))
    return inputs.astype(np.float32), labels


def with_wrong_labels(
    labels: np.ndarray, share: float, rng: np.random.Generator, classes: int = 2
) -> np.ndarray:
    """Each label is moved to another class with probability `share`."""
    moved = rng.uniform(size=len(labels)) < share
    shift = rng.integers(1, classes, len(labels))
    return np.where(moved, (labels + shift) % classes, labels)


def tensors(inputs: np.ndarray, labels: np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.from_numpy(inputs), torch.from_numpy(labels).long()
