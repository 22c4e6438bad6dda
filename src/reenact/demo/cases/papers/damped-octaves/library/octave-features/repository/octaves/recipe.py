"""The settings of the training."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    octaves: int = 6
    hidden: int = 16
    epochs: int = 5
    batch_size: int = 32
    lr: float = 0.02
    """Adam's step size. Training is short, so it is twenty times the usual one; 0.001 does not get there."""
