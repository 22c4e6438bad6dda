"""Synthetic inertial recordings: five movement styles seen by three axes."""
import numpy as np
import torch
from torch.utils.data import TensorDataset

STYLES = 5
WINDOW = 36
AXES = 3


def _recording(rng, style):
    t = np.arange(WINDOW) / 25.0
    cadence = rng.uniform(1.2, 1.8)
    phase = rng.uniform(0, 2 * np.pi, size=AXES)
    sig = np.stack([np.sin(2 * np.pi * cadence * t + p) for p in phase], axis=1)
    start = rng.integers(3, WINDOW - 12)
    seg = slice(start, start + 9)
    if style == 1:
        sig[seg, 0] += 1.2 * np.hanning(9)
    elif style == 2:
        sig[seg, 1] -= 1.2 * np.hanning(9)
    elif style == 3:
        sig[seg] *= 0.25
    elif style == 4:
        sig[:, 2] = 0.8 * sig[:, 0] + 0.3 * sig[:, 2]
    return sig + rng.normal(0, 0.18, size=sig.shape)


def make_splits(n_train, n_val, seed):
    rng = np.random.default_rng(seed)
    out = []
    for n in (n_train, n_val):
        labels = rng.integers(0, STYLES, size=n)
        signals = np.stack([_recording(rng, s) for s in labels]).astype("float32")
        out.append(TensorDataset(torch.from_numpy(signals), torch.from_numpy(labels)))
    return out
