from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """What can be tuned."""

    lr: float = 0.02
    epochs: int = 10
    batch: int = 40
    width: int = 24
    seed: int = 8
    rows: int = 400
