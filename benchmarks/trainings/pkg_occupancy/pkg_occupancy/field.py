"""Fourier features with fixed random frequencies in front of a small MLP."""

import math

import torch
from torch import nn


class Field(nn.Module):
    def __init__(self, features=48, scale=1.5, width=96):
        super().__init__()
        self.register_buffer("frequency", scale * torch.randn(3, features))  # drawn once, never trained
        self.net = nn.Sequential(
            nn.Linear(2 * features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )

    def forward(self, p):
        angle = 2 * math.pi * p @ self.frequency
        return self.net(torch.cat([angle.sin(), angle.cos()], dim=-1)).squeeze(-1)
