"""Heteroscedastic regression: mean and spread of a sensor as functions of temperature and age."""
import argparse

import numpy as np
import torch
from torch import nn


def simulate(n, seed):
    r = np.random.default_rng(seed)
    temp, age = r.uniform(-1, 1, n), r.uniform(0, 1, n)
    mean = 0.4 * np.sin(3 * temp) + 0.2 * age
    sd = 0.02 + 0.08 * age ** 2
    y = mean + sd * r.normal(size=n)
    return torch.tensor(np.stack([temp, age], 1), dtype=torch.float32), torch.tensor(y, dtype=torch.float32)


class MeanSpread(nn.Module):
    def __init__(self, h=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, h), nn.Tanh(), nn.Linear(h, h), nn.Tanh())
        self.mean, self.spread = nn.Linear(h, 1), nn.Linear(h, 1)

    def forward(self, x):
        h = self.body(x)
        return self.mean(h).squeeze(-1), nn.functional.softplus(self.spread(h)).squeeze(-1) + 1e-3


def nll(mean, sd, y):
    # constant 0.5*log(2*pi) left out; sharp predictions push this below zero
    return (torch.log(sd) + 0.5 * ((y - mean) / sd) ** 2).mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=40)
    ap.add_argument("--batch", type=int, default=100)
    ap.add_argument("--lr", type=float, default=5e-3)
    args = ap.parse_args()
    torch.manual_seed(0)
    x, y = simulate(3000, 0)
    xt, yt = simulate(1000, 1)
    net = MeanSpread()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for ep in range(args.epochs):
        total = 0.0
        for idx in torch.randperm(len(x)).split(args.batch):
            m, s = net(x[idx])
            # the mean alone for a while, then the full likelihood
            loss = (m - y[idx]).pow(2).mean() if ep < 5 else nll(m, s, y[idx])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 10.0)
            opt.step()
            total += loss.item() * len(idx)
        sched.step()
        if (ep + 1) % 8 == 0:
            print(f"epoch {ep + 1} loss {total / len(x):+.4f}")
    with torch.no_grad():
        m, s = net(xt)
    r2 = 1 - ((m - yt) ** 2).sum() / ((yt - yt.mean()) ** 2).sum()
    cover = ((yt - m).abs() < 1.96 * s).float().mean()
    const = nll(y.mean(), y.std(), yt)
    print(f"test nll {nll(m, s, yt):+.4f} (constant {const:+.4f}) R2 {r2:.3f} 95% interval holds {cover:.3f}")


if __name__ == "__main__":
    main()
