"""The network: two hidden layers."""

import torch
from torch import nn

from octaves.features import octave_features


class OctaveNet(nn.Module):
    """A perceptron on octave features; weights start as PyTorch starts them."""

    def __init__(self, octaves: int, hidden: int) -> None:
        super().__init__()
        self.octaves = octaves
        self.layers = nn.Sequential(
            nn.Linear(2 * octaves, hidden),
            nn.Tanh(),
            nn.Linear(hidden, hidden),
            nn.Tanh(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(octave_features(x, self.octaves)).squeeze(1)
