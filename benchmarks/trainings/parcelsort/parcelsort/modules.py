"""Mixture of small experts for parcels; a gate decides how much each expert counts."""
import torch
from torch import nn


class Expert(nn.Module):
    def __init__(self, d_in, width, d_out):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(d_in, width), nn.ReLU(), nn.Linear(width, d_out))

    def forward(self, x):
        return self.f(x)


class ParcelRouter(nn.Module):
    def __init__(self, d_in, classes, n_experts=6, width=24, d_mid=12):
        super().__init__()
        self.gate = nn.Linear(d_in, n_experts)
        self.experts = [Expert(d_in, width, d_mid) for _ in range(n_experts)]
        self.final = nn.Linear(d_mid, classes)

    def forward(self, x):
        weight = torch.softmax(self.gate(x), dim=-1)
        mids = torch.stack([e(x) for e in self.experts], dim=1)
        mixed = (weight.unsqueeze(-1) * mids).sum(1)
        return self.final(torch.relu(mixed))
