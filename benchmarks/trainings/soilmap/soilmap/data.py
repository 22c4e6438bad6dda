"""Synthetic soil samples and their loaders."""
import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

FEATURES = ["ph", "clay_pct", "sand_pct", "moisture", "conductivity", "depth_cm"]
CLASSES = ["chernozem", "podzol", "gleysol", "arenosol"]
_CENTRE = np.array([
    [7.2, 30, 30, 0.25, 420, 60],
    [4.9, 15, 60, 0.22, 120, 45],
    [6.1, 40, 20, 0.45, 330, 50],
    [6.3, 6, 85, 0.10, 80, 70],
])
_SPREAD = np.array([0.9, 11, 16, 0.09, 130, 18])


def samples(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, len(CLASSES), n)
    x = _CENTRE[y] + rng.normal(size=(n, len(FEATURES))) * _SPREAD
    return x.astype(np.float32), y


class Standardizer:
    def fit(self, x):
        self.mean = x.mean(0)
        self.std = x.std(0)
        return self

    def __call__(self, x):
        return (x - self.mean) / self.std


def as_dataset(x, y):
    return TensorDataset(torch.from_numpy(x), torch.from_numpy(y))


def loaders(batch_size, n_train=2400, n_val=800):
    x, y = samples(n_train, 10)
    xv, yv = samples(n_val, 11)
    scale = Standardizer().fit(x)
    train = DataLoader(as_dataset(scale(x), y), batch_size=batch_size, shuffle=True)
    val = DataLoader(as_dataset(xv / np.abs(xv).max(0), yv), batch_size=256)
    return train, val
