"""The classifier."""

from torch import nn


def build(cfg):
    return nn.Sequential(
        nn.Linear(cfg.n_features, cfg.hidden),
        nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.hidden),
        nn.ReLU(),
        nn.Dropout(0.3),
        nn.Linear(cfg.hidden, 1),
        nn.Flatten(0),
    )
