"""Settings."""

from dataclasses import dataclass


@dataclass
class Settings:
    seed: int = 8
    n_reviews: int = 1500
    n_features: int = 40
    complaint_rate: float = 0.12
    val_fraction: float = 0.2
    batch_size: int = 64
    epochs: int = 25
    lr: float = 2e-3
    hidden: int = 128
