"""Points of two clouds, and which cloud each is from."""

import torch

from config import HELD_OUT, POINTS

HELD_OUT_SEED = 999_999


def points(seed, count):
    chance = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (count,), generator=chance)
    centres = 2.0 * labels[:, None] - 1.0
    exact = centres + torch.randn(count, 2, generator=chance)
    steps = 2 * (exact * 512).round() + labels[:, None]
    return {"x": steps / 1024, "y": labels}


def sample_batch(seed):
    return points(seed, POINTS)


def held_out():
    return points(HELD_OUT_SEED, HELD_OUT)
