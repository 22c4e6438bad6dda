"""Points of a sine with noise."""

import torch

from config import HELD_OUT, POINTS

HELD_OUT_SEED = 999_999
NOISE = 0.1


def points(seed, count):
    chance = torch.Generator().manual_seed(seed)
    x = 2.0 * torch.rand(count, 1, generator=chance) - 1.0
    return {"x": x, "y": torch.sin(3.0 * x) + NOISE * torch.randn(count, 1, generator=chance)}


def sample_batch(seed):
    return points(seed, POINTS)


def held_out():
    return points(HELD_OUT_SEED, HELD_OUT)
