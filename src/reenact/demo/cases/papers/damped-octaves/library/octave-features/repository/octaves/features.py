"""Sines and cosines, one pair for every octave."""

import math

import torch


def octave_features(x: torch.Tensor, octaves: int) -> torch.Tensor:
    """Maps numbers in [0, 1] of shape (n,) to features of shape (n, 2 * octaves).

    The sines of all octaves come first, then the cosines.
    """
    if octaves < 1:
        raise ValueError(f"octaves must be at least 1, got {octaves}")
    frequencies = 2.0 ** torch.arange(octaves, dtype=x.dtype)
    phase = 2 * math.pi * x[:, None] * frequencies
    return torch.cat([phase.sin(), phase.cos()], dim=1)
