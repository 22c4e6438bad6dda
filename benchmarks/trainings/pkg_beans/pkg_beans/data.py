"""Beans as a camera sees them, made balanced, and split."""

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.utils import resample


def harvest(cfg, n, rng):
    x = rng.normal(size=(n, cfg.features)).astype(np.float32)
    score = x[:, 0] + 0.8 * x[:, 1] - 0.6 * x[:, 2] + 1.2 * rng.normal(size=n)
    bad = score > np.quantile(score, 1 - cfg.bad_share)
    return x, bad.astype(np.float32)


def balance(x, y, seed):
    """As many bad beans as good ones, by drawing the bad ones repeatedly."""
    bad, good = x[y == 1], x[y == 0]
    more = resample(bad, replace=True, n_samples=len(good), random_state=seed)
    x = np.concatenate([good, more])
    y = np.concatenate([np.zeros(len(good)), np.ones(len(more))]).astype(np.float32)
    return x, y


def prepare(cfg):
    rng = np.random.default_rng(cfg.seed)
    x, y = harvest(cfg, cfg.beans, rng)
    x, y = balance(x, y, cfg.seed)
    x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, random_state=cfg.seed, stratify=y)
    new_x, new_y = harvest(cfg, 3000, rng)
    return (x_train, y_train), (x_val, y_val), (new_x, new_y)
