import math

import torch
from torch import nn
from torch.nn import functional as F

from .world import N_COLOURS, N_SHAPES, N_SIZES


class SensorTower(nn.Module):
    def __init__(self, dim_in=40, dim=32):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(dim_in, 128), nn.GELU(), nn.Linear(128, dim))

    def forward(self, x):
        return F.normalize(self.net(x), dim=-1)


class SymbolTower(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.bag = nn.EmbeddingBag(N_SHAPES + N_COLOURS + N_SIZES, 64, mode="sum")
        self.net = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, dim))

    def forward(self, objects):
        return F.normalize(self.net(self.bag(objects)), dim=-1)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.sensor, self.symbol = SensorTower(), SymbolTower()
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / 0.07)))

    def forward(self, x, objects):
        scale = self.log_scale.clamp(max=math.log(100)).exp()
        return scale * self.sensor(x) @ self.symbol(objects).T
