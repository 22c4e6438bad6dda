"""Short-term load forecasting: 32 past readings of a meter -> the next 8."""
import argparse
import math
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def simulate_meters(n, length, rng):
    t = np.arange(length)
    period = rng.uniform(8.0, 16.0, size=(n, 1))
    phase = rng.uniform(0, 2 * np.pi, size=(n, 1))
    amp = rng.uniform(0.6, 1.4, size=(n, 1))
    slope = rng.normal(0, 0.012, size=(n, 1))
    base = amp * np.sin(2 * np.pi * t / period + phase)
    harm = 0.3 * amp * np.sin(4 * np.pi * t / period + 2 * phase)
    noise = rng.normal(0, 0.05, size=(n, length))
    return (base + harm + slope * t + noise).astype(np.float32)


class SelfAttention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        assert dim % heads == 0
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.qkv(x).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 3, 1, 0, 4)
        y = F.scaled_dot_product_attention(q, k, v)
        y = y.permute(2, 1, 0, 3).reshape(b, t, d)
        return self.proj(y)


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.n1, self.n2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = SelfAttention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 3 * dim), nn.GELU(), nn.Linear(3 * dim, dim))

    def forward(self, x):
        x = x + self.attn(self.n1(x))
        return x + self.mlp(self.n2(x))


class Forecaster(nn.Module):
    def __init__(self, context, horizon, dim=32, depth=2, heads=4):
        super().__init__()
        self.inp = nn.Linear(1, dim)
        pos = torch.arange(context).unsqueeze(1)
        freq = torch.exp(torch.arange(0, dim, 2) * (-math.log(1000.0) / dim))
        pe = torch.zeros(context, dim)
        pe[:, 0::2] = torch.sin(pos * freq)
        pe[:, 1::2] = torch.cos(pos * freq)
        self.register_buffer("pe", pe)
        self.blocks = nn.ModuleList(Block(dim, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, horizon)

    def forward(self, x):
        h = self.inp(x.unsqueeze(-1)) + self.pe
        for blk in self.blocks:
            h = blk(h)
        return x[:, -1:] + self.out(self.norm(h[:, -1]))


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    err, n = 0.0, 0
    for past, future in loader:
        err += (model(past) - future).abs().sum().item()
        n += future.numel()
    return err / n


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=7)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=5)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    context, horizon = 32, 8
    series = torch.from_numpy(simulate_meters(2500, context + horizon, rng))
    train, val = series[:2000], series[2000:]
    train_dl = DataLoader(TensorDataset(train[:, :context], train[:, context:]), batch_size=64, shuffle=True)
    val_dl = DataLoader(TensorDataset(val[:, :context], val[:, context:]), batch_size=64)

    naive = (val[:, context - 1:context] - val[:, context:]).abs().mean().item()
    print(f"persistence baseline MAE {naive:.4f}")

    model = Forecaster(context, horizon)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train_dl))
    for epoch in range(args.epochs):
        model.train()
        tic, running = time.time(), 0.0
        for past, future in train_dl:
            opt.zero_grad(set_to_none=True)
            loss = F.smooth_l1_loss(model(past), future)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            running += loss.item()
        print(f"epoch {epoch + 1:2d} train {running / len(train_dl):.4f} "
              f"val MAE {evaluate(model, val_dl):.4f} ({time.time() - tic:.1f}s)")


if __name__ == "__main__":
    main()
