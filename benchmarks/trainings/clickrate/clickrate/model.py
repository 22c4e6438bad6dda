"""Factorised embeddings with an MLP on top."""

import torch
from torch import nn

from .data import N_ADS, N_HOURS, N_USERS


class ClickModel(nn.Module):
    def __init__(self, dim=8, hidden=32):
        super().__init__()
        self.user = nn.Embedding(N_USERS, dim)
        self.ad = nn.Embedding(N_ADS, dim)
        self.hour = nn.Embedding(N_HOURS, dim)
        for table in (self.user, self.ad, self.hour):
            nn.init.normal_(table.weight, std=0.1)
        self.mlp = nn.Sequential(nn.Linear(4 * dim, hidden), nn.ReLU(), nn.Dropout(0.1), nn.Linear(hidden, 1))

    def forward(self, ids):
        u, a, h = self.user(ids[:, 0]), self.ad(ids[:, 1]), self.hour(ids[:, 2])
        return self.mlp(torch.cat([u, a, h, u * a], dim=1)).squeeze(1)

    def groups(self, lr):
        tables = [p for m in (self.user, self.ad, self.hour) for p in m.parameters()]
        return [
            {"params": tables, "lr": 5 * lr, "weight_decay": 0.0},
            {"params": self.mlp.parameters(), "lr": lr, "weight_decay": 1e-4},
        ]
