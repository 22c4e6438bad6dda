"""Classify machine event logs with a small self-attention encoder and a CLS read-out."""
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(7)
rng = np.random.default_rng(7)

N_EVENTS, N_KINDS, LOG_LEN = 4000, 6, 18


def make_logs(n):
    """Each log is a list of (kind, severity); the label is the kind with the largest summed severity."""
    kinds = rng.integers(0, N_KINDS, size=(n, LOG_LEN))
    severity = rng.gamma(2.0, 0.5, size=(n, LOG_LEN)).astype("float32")
    total = np.zeros((n, N_KINDS), dtype="float32")
    for k in range(N_KINDS):
        total[:, k] = (severity * (kinds == k)).sum(1)
    return torch.tensor(kinds), torch.tensor(severity), torch.tensor(total.argmax(1))


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.head_dim = heads, dim // heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.reshape(b, t, self.heads, self.head_dim).transpose(0, 2)
        k = k.reshape(b, t, self.heads, self.head_dim).transpose(0, 2)
        v = v.reshape(b, t, self.heads, self.head_dim).transpose(0, 2)
        att = (q @ k.transpose(-2, -1)) / math.sqrt(self.head_dim)
        y = att.softmax(dim=-1) @ v
        y = y.transpose(0, 2).reshape(b, t, c)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class LogClassifier(nn.Module):
    def __init__(self, dim=48, heads=4, depth=2):
        super().__init__()
        self.kind = nn.Embedding(N_KINDS, dim)
        self.severity = nn.Linear(1, dim)
        self.cls = nn.Parameter(torch.randn(1, 1, dim) * 0.02)
        self.blocks = nn.ModuleList([Block(dim, heads) for _ in range(depth)])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, N_KINDS)

    def forward(self, kinds, severity):
        x = self.kind(kinds) * severity.unsqueeze(-1) + self.severity(severity.unsqueeze(-1))
        x = torch.cat([self.cls.expand(len(x), -1, -1), x], dim=1)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x[:, 0]))


train_set = TensorDataset(*make_logs(N_EVENTS))
val_set = TensorDataset(*make_logs(1000))
train_loader = DataLoader(train_set, batch_size=64, shuffle=True)
val_loader = DataLoader(val_set, batch_size=64)

model = LogClassifier()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)

for epoch in range(8):
    model.train()
    running = 0.0
    for kinds, severity, y in train_loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(kinds, severity), y)
        loss.backward()
        optimizer.step()
        running += loss.item() * len(y)
    model.eval()
    hits = 0
    with torch.no_grad():
        for kinds, severity, y in val_loader:
            hits += (model(kinds, severity).argmax(1) == y).sum().item()
    print(f"epoch {epoch + 1}  train loss {running / len(train_set):.4f}  val acc {hits / len(val_set):.3f}")
