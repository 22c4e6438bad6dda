"""Discrete-time survival pieces."""
import numpy as np
from keras import ops


def bin_edges(days, failed, n_bins):
    inner = np.quantile(days[failed > 0], np.linspace(0, 1, n_bins + 1)[1:-1])
    return np.concatenate([[0.0], inner, [np.inf]])


def hazard_targets(days, failed, edges):
    """Stacks the failure indicator and the at-risk mask of every interval: shape (n, bins, 2)."""
    n_bins = len(edges) - 1
    position = np.searchsorted(edges, days, side="left") - 1
    column = np.arange(n_bins)[None, :]
    here = column == position[:, None]
    event = here & (failed[:, None] > 0)
    mask = (column < position[:, None]) | event
    return np.stack([event, mask], axis=-1).astype(np.float32)


def masked_hazard_loss(y_true, logits):
    event, mask = y_true[..., 0], y_true[..., 1]
    nll = ops.softplus(logits) - event * logits
    return ops.sum(nll * mask, axis=-1)


def survival_curve(logits):
    hazard = 1.0 / (1.0 + np.exp(-logits))
    return np.cumprod(1.0 - hazard, axis=1)


def concordance(days, failed, expected):
    earlier = (days[:, None] < days[None, :]) & (failed[:, None] > 0)
    agree = (expected[:, None] < expected[None, :]) + 0.5 * (expected[:, None] == expected[None, :])
    return float((agree * earlier).sum() / earlier.sum())
