import math

import torch
from torch import nn


class SinusoidalPositions(nn.Module):
    def __init__(self, width, max_len):
        super().__init__()
        pos = torch.arange(max_len).float()[:, None]
        freq = torch.exp(torch.arange(0, width, 2).float() * (-math.log(1000.0) / width))
        table = torch.zeros(max_len, width)
        table[:, 0::2] = torch.sin(pos * freq)
        table[:, 1::2] = torch.cos(pos * freq)
        self.register_buffer("table", table)

    def forward(self, x):
        return x + self.table[: x.size(1)]


class GaitEncoder(nn.Module):
    """Small transformer over a window of accelerometer samples (batch, time, axes)."""

    def __init__(self, axes, classes, window, width=32, heads=4, depth=2):
        super().__init__()
        self.stem = nn.Linear(axes, width)
        self.positions = SinusoidalPositions(width, window)
        block = nn.TransformerEncoderLayer(
            d_model=width,
            nhead=heads,
            dim_feedforward=2 * width,
            dropout=0.05,
            activation="gelu",
            norm_first=True,
        )
        self.blocks = nn.TransformerEncoder(block, depth, enable_nested_tensor=False)
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        h = self.positions(self.stem(x))
        h = self.norm(self.blocks(h))
        return self.head(h.amax(dim=1))
