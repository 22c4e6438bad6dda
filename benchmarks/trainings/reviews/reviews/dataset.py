"""Reviews as bags of features, balanced and split."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


def simulate(cfg):
    rng = np.random.default_rng(cfg.seed)
    x = rng.standard_normal((cfg.n_reviews, cfg.n_features)).astype(np.float32)
    score = x[:, 0] + 0.5 * x[:, 1] + 2.5 * rng.standard_normal(cfg.n_reviews)
    y = (score > np.quantile(score, 1 - cfg.complaint_rate)).astype(np.float32)
    return x, y


def oversample(x, y, rng):
    minority = np.flatnonzero(y == 1)
    missing = int((y == 0).sum() - len(minority))
    extra = rng.choice(minority, size=missing, replace=True)
    return np.concatenate([x, x[extra]]), np.concatenate([y, y[extra]])


def build_loaders(cfg):
    x, y = simulate(cfg)
    x, y = oversample(x, y, np.random.default_rng(cfg.seed))
    x_tr, x_va, y_tr, y_va = train_test_split(
        x, y, test_size=cfg.val_fraction, random_state=cfg.seed, stratify=y
    )
    mean, std = x_tr.mean(0), x_tr.std(0)
    wrap = lambda a, b: TensorDataset(torch.from_numpy((a - mean) / std), torch.from_numpy(b))
    train = DataLoader(wrap(x_tr, y_tr), batch_size=cfg.batch_size, shuffle=True)
    valid = DataLoader(wrap(x_va, y_va), batch_size=256)
    return train, valid
