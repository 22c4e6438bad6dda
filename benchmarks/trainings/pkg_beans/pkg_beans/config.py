from dataclasses import dataclass


@dataclass(frozen=True)
class Config:
    beans: int = 700
    features: int = 24
    bad_share: float = 0.12
    hidden: int = 128
    lr: float = 2e-3
    epochs: int = 25
    batch: int = 32
    seed: int = 22
