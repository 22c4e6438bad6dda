"""Functions on the unit interval to try the features on."""

import math
from collections.abc import Callable

import torch

Function = Callable[[torch.Tensor], torch.Tensor]


def chirp(x: torch.Tensor) -> torch.Tensor:
    """Goes up and down faster and faster."""
    return torch.sin(2 * math.pi * (1 + 6 * x) * x)


def sawtooth(x: torch.Tensor) -> torch.Tensor:
    """Four teeth."""
    return 2 * torch.remainder(4 * x, 1.0) - 1


def bells(x: torch.Tensor) -> torch.Tensor:
    """Three bells of different widths."""
    centres, widths = torch.tensor([0.2, 0.5, 0.8]), torch.tensor([0.02, 0.05, 0.1])
    return torch.exp(-(((x[:, None] - centres) / widths) ** 2)).sum(dim=1)


FUNCTIONS: dict[str, Function] = {"chirp": chirp, "sawtooth": sawtooth, "bells": bells}
