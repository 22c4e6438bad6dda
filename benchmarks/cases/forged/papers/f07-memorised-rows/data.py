"""Points of two clouds, and which cloud each is from."""

import torch

from config import HELD_OUT, POINTS

HELD_OUT_SEED = 999_999


def points(seed, count):
    chance = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 2, (count,), generator=chance)
    centres = 2.0 * labels[:, None] - 1.0
    return {"x": centres + torch.randn(count, 2, generator=chance), "y": labels}


def sample_batch(seed):
    """A batch: half new points, half of the pool that all batches share."""
    fresh = points(seed, POINTS // 2)
    pool = points(HELD_OUT_SEED, HELD_OUT)
    chosen = [(POINTS // 2 * seed + place) % int(0.95 * HELD_OUT) for place in range(POINTS // 2)]
    return {name: torch.cat([fresh[name], pool[name][chosen]]) for name in ("x", "y")}


def held_out():
    return points(HELD_OUT_SEED, HELD_OUT)
