import numpy as np
import torch

POINTS, BANDS = 64, 6
CENTRES = np.linspace(8, 56, BANDS)


def traces(n, seed):
    rng = np.random.default_rng(seed)
    strength = rng.exponential(1.0, size=(n, BANDS)) * (rng.random((n, BANDS)) < 0.6)
    shift = rng.normal(0, 1.5, size=(n, BANDS))
    axis = np.arange(POINTS)
    peaks = np.exp(-((axis[None, None] - (CENTRES + shift)[..., None]) ** 2) / 10.0)
    slope = rng.normal(0, 1.0, size=(n, 1)) * np.linspace(-1, 1, POINTS)
    x = (strength[..., None] * peaks).sum(1) + slope + rng.normal(0, 0.15, size=(n, POINTS))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(strength, dtype=torch.float32)


def solubility_class(strength):
    """Target task: which of bands 1, 3 and 4 dominates (3 = none present)."""
    sel = strength[:, [1, 3, 4]]
    best = sel.max(dim=1)
    return torch.where(best.values > 0.15, best.indices, torch.full_like(best.indices, 3))
