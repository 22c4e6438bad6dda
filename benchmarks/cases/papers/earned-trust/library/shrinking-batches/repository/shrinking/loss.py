"""How much of a batch is kept, and the loss of what is kept."""

import torch
from torch import nn


def kept_fraction(epoch: int, share: float = 0.2, ramp: int = 10) -> float:
    """The fraction of a batch that epoch number `epoch` (from 0) learns from.

    share: the share of wrong labels, known or guessed.
    ramp:  epochs until the whole share is left out.
    """
    if not 0.0 <= share < 1.0:
        raise ValueError(f"share must be in [0, 1), got {share}")
    return 1.0 - share * min(1.0, epoch / ramp)


class ShrinkingLoss(nn.Module):
    """Mean cross-entropy of the examples of a batch that have the smallest losses."""

    def __init__(self, share: float = 0.2, ramp: int = 10) -> None:
        super().__init__()
        self.share = share
        self.ramp = ramp
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def forward(self, logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        losses = nn.functional.cross_entropy(logits, labels, reduction="none")
        kept = max(1, round(kept_fraction(self.epoch, self.share, self.ramp) * len(losses)))
        # The choice is made on detached losses: it is no part of what is differentiated.
        chosen = losses.detach().argsort()[:kept]
        return losses[chosen].mean()
