# Probabilistic regression: predict mean and spread of the water level residual at a gauge.
# The spread is small (metres, a few centimetres of noise), so the log likelihood is well above
# zero and the printed loss ends below zero.
from __future__ import annotations

import argparse
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=30)
    p.add_argument("--batch-size", type=int, default=128)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--width", type=int, default=64)
    p.add_argument("--seed", type=int, default=17)
    return p.parse_args()


def gauge_data(n: int, g: torch.Generator):
    hour = torch.rand(n, generator=g) * 24
    wind = torch.randn(n, generator=g)
    pressure = torch.randn(n, generator=g)
    phase = 2 * math.pi * hour / 12.42
    level = 0.12 * torch.sin(phase) + 0.05 * wind - 0.03 * pressure * (wind > 0)
    sigma = 0.01 + 0.03 * torch.sigmoid(2 * wind)
    level = level + sigma * torch.randn(n, generator=g)
    feats = torch.stack([torch.sin(phase), torch.cos(phase), wind, pressure], dim=1)
    return feats, level.unsqueeze(1)


class MeanAndSpread(nn.Module):
    def __init__(self, d_in: int, width: int):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(d_in, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU())
        self.mean = nn.Linear(width, 1)
        self.log_var = nn.Linear(width, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h), self.log_var(h).clamp(-12, 4)


def evaluate(net, x, y):
    net.eval()
    with torch.no_grad():
        mu, lv = net(x)
        nll = 0.5 * (lv + (y - mu) ** 2 / lv.exp() + math.log(2 * math.pi)).mean()
        inside = ((y - mu).abs() < 1.64 * (0.5 * lv).exp()).float().mean()
        rmse = (y - mu).pow(2).mean().sqrt()
    return nll.item(), rmse.item(), inside.item()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    g = torch.Generator().manual_seed(args.seed)
    xtr, ytr = gauge_data(4000, g)
    xte, yte = gauge_data(1500, g)
    net = MeanAndSpread(4, args.width)
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=args.epochs)
    loader = DataLoader(TensorDataset(xtr, ytr), batch_size=args.batch_size, shuffle=True)
    for epoch in range(args.epochs):
        net.train()
        total = 0.0
        for xb, yb in loader:
            mu, lv = net(xb)
            loss = 0.5 * (lv + (yb - mu).pow(2) * torch.exp(-lv)).mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 5.0)
            opt.step()
            total += loss.item() * len(xb)
        sched.step()
        if epoch % 5 == 4:
            nll, rmse, cover = evaluate(net, xte, yte)
            print(f"[{epoch + 1:02d}] train {total / len(xtr):+.3f}  test nll {nll:+.3f}  rmse {rmse:.4f} m  90% band holds {cover:.3f}")
    base = yte.std().item()
    base_nll = 0.5 * (2 * math.log(ytr.std().item()) + 1 + math.log(2 * math.pi))
    print(f"constant predictor: nll {base_nll:+.3f} rmse {base:.4f} m")


if __name__ == "__main__":
    main()
