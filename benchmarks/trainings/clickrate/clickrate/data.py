"""Simulated impressions."""

import numpy as np
import torch
from torch.utils.data import DataLoader, TensorDataset

N_USERS, N_ADS, N_HOURS = 60, 40, 24


def impressions(n, seed):
    world = np.random.default_rng(0)
    user_taste = world.normal(0, 1.2, (N_USERS, 3))
    ad_style = world.normal(0, 1.2, (N_ADS, 3))
    rng = np.random.default_rng(seed)
    user = rng.integers(0, N_USERS, n)
    ad = rng.integers(0, N_ADS, n)
    hour = rng.integers(0, N_HOURS, n)
    score = (user_taste[user] * ad_style[ad]).sum(1) + 0.8 * np.sin(2 * np.pi * hour / 24) - 2.5
    click = (score + rng.logistic(0, 0.5, n) > 0).astype(np.float32)
    return torch.tensor(np.stack([user, ad, hour], 1)), torch.from_numpy(click)


def loaders(batch_size):
    train_x, train_y = impressions(9000, seed=1)
    valid_x, valid_y = impressions(2000, seed=2)
    train = DataLoader(TensorDataset(train_x, train_y), batch_size=batch_size, shuffle=True, drop_last=True)
    valid = DataLoader(TensorDataset(valid_x, valid_y), batch_size=500)
    return train, valid, float((1 - train_y).sum() / train_y.sum())
