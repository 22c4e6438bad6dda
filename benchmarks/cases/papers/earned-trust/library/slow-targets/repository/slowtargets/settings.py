"""All settings, with the values of the paper."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    beta: float = 0.9
    """How much of the old memory stays when an example is seen."""
    alpha: float = 0.5
    """Share of the given label in the target."""
    warmup: int = 5
    """Epochs in which the target is the given label."""
    epochs: int = 60
    batch_size: int = 120
    learning_rate: float = 0.01
    """Adam, decayed to zero by half a cosine over all epochs."""
    hidden: int = 64
