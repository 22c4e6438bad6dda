"""Simulated bottom-camera colour histograms of tide pool animals."""
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

COARSE = 3
FINE = 9
DIM = 24


def _centres():
    rng = np.random.default_rng(100)
    coarse = rng.normal(0, 1.6, (COARSE, DIM))
    fine = np.repeat(coarse, FINE // COARSE, axis=0) + rng.normal(0, 0.9, (FINE, DIM))
    return fine


def sample(n, seed):
    rng = np.random.default_rng(seed)
    centres = _centres()
    fine = rng.integers(0, FINE, n)
    x = centres[fine] + rng.normal(0, 0.9, (n, DIM))
    x = np.tanh(x * 0.7)
    return torch.tensor(x, dtype=torch.float32), torch.tensor(fine), torch.tensor(fine // (FINE // COARSE))


def loaders(stage, batch_size=64):
    """stage 'coarse' gives phylum labels, 'fine' gives species labels."""
    pick = 1 if stage == "fine" else 2
    train, val = sample(3000, 1), sample(900, 2)
    return (
        DataLoader(TensorDataset(train[0], train[pick]), batch_size=batch_size, shuffle=True),
        DataLoader(TensorDataset(val[0], val[pick]), batch_size=300),
    )
