"""Hourly hire counts from weather and calendar columns (simulated)."""
import argparse
import logging

import numpy as np
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, Dataset, random_split

logging.basicConfig(level=logging.INFO, format="%(message)s")
log = logging.getLogger("bike")


def simulate(n, seed):
    r = np.random.default_rng(seed)
    hour, dow, month = r.integers(0, 24, n), r.integers(0, 7, n), r.integers(0, 12, n)
    temp = 10 - 9 * np.cos(2 * np.pi * month / 12) + r.normal(0, 3, n)
    rain = r.exponential(0.6, n) * (r.random(n) < 0.25)
    wind = r.gamma(2.0, 2.0, n)
    rush = np.exp(-(hour - 8) ** 2 / 4) + np.exp(-(hour - 17.5) ** 2 / 5)
    level = 40 + 160 * np.where(dow < 5, rush, 0.6 * np.exp(-(hour - 14) ** 2 / 20))
    count = level * (0.5 + np.clip(temp, 0, 28) / 28) * np.exp(-0.6 * rain) * (1 - 0.02 * np.clip(wind, 0, 15))
    count = count + r.normal(0, 8, n)
    feats = np.stack([np.sin(2 * np.pi * hour / 24), np.cos(2 * np.pi * hour / 24), (dow < 5) * 1.0,
                      np.sin(2 * np.pi * month / 12), np.cos(2 * np.pi * month / 12), temp, rain, wind, hour], 1)
    return feats.astype(np.float32), count.astype(np.float32)


class HireSet(Dataset):
    def __init__(self, n, seed):
        x, y = simulate(n, seed)
        self.x = torch.from_numpy((x - x.mean(0)) / x.std(0))
        self.mu, self.sd = float(y.mean()), float(y.std())
        self.y = torch.from_numpy((y - self.mu) / self.sd)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Regressor(nn.Module):
    def __init__(self, d, h=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.layers(x)


def squared_error(pred, target):
    return ((pred - target) ** 2).mean()


def run(args):
    torch.manual_seed(args.seed)
    ds = HireSet(args.rows, args.seed)
    train, test = random_split(ds, [int(0.8 * len(ds)), len(ds) - int(0.8 * len(ds))])
    loader = DataLoader(train, args.batch, shuffle=True)
    model = Regressor(ds.x.shape[1])
    opt = optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-3)
    sched = optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        model.train()
        losses = []
        for x, y in loader:
            loss = squared_error(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        sched.step()
        if epoch % 3 == 2:
            log.info("epoch %d loss %.4f", epoch + 1, np.mean(losses))
    model.eval()
    idx = torch.tensor(test.indices)
    with torch.no_grad():
        pred = model(ds.x[idx]).numpy().ravel() * ds.sd + ds.mu
    true = ds.y[idx].numpy() * ds.sd + ds.mu
    mae = np.abs(pred - true).mean()
    r2 = 1 - ((pred - true) ** 2).sum() / ((true - true.mean()) ** 2).sum()
    log.info("test MAE %.2f  R2 %.3f", mae, r2)


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--rows", type=int, default=6000)
    ap.add_argument("--epochs", type=int, default=15)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    ap.add_argument("--seed", type=int, default=0)
    run(ap.parse_args())
