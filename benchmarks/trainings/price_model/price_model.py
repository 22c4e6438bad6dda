"""Flat price regression on a simulated listing table."""

import argparse
import json
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn


@dataclass(frozen=True)
class Config:
    lr: float
    epochs: int
    batch: int
    width: int
    seed: int

    @classmethod
    def from_args(cls):
        p = argparse.ArgumentParser()
        p.add_argument("--lr", type=float, default=2e-3)
        p.add_argument("--epochs", type=int, default=20)
        p.add_argument("--batch", type=int, default=100)
        p.add_argument("--width", type=int, default=80)
        p.add_argument("--seed", type=int, default=4)
        return cls(**vars(p.parse_args()))


class Standardizer:
    def __init__(self, a):
        self.mean, self.std = a.mean(0), a.std(0) + 1e-8

    def __call__(self, a):
        return torch.tensor((a - self.mean) / self.std, dtype=torch.float32)

    def invert(self, t):
        return t.numpy() * self.std + self.mean


def listings(n, rng):
    area = rng.uniform(25, 180, n)
    rooms_count = np.clip((area / 28 + rng.normal(0, 0.7, n)).round(), 1, 7)
    floor = rng.integers(0, 12, n)
    distance = rng.exponential(4.0, n)
    age = rng.uniform(0, 90, n)
    price = 3.1 * area * np.exp(-distance / 9) + 14 * rooms_count + 4 * np.sqrt(floor) - 0.6 * age
    price += 30 * (age < 5) + rng.normal(0, 12, n)
    return np.stack([area, rooms_count, floor, distance, age], 1), price[:, None]


def build_net(n_features, width):
    return nn.Sequential(
        nn.Linear(n_features, width),
        nn.ReLU(),
        nn.Linear(width, width),
        nn.ReLU(),
        nn.Linear(width, 1),
        nn.ReLU(),
    )


def report(net, x, y, y_scale):
    net.eval()
    with torch.no_grad():
        pred = y_scale.invert(net(x))
    truth = y_scale.invert(y)
    mae = np.abs(pred - truth).mean()
    r2 = 1 - ((pred - truth) ** 2).sum() / ((truth - truth.mean()) ** 2).sum()
    return {"mae": round(float(mae), 2), "r2": round(float(r2), 4)}


def fit(cfg):
    rng = np.random.default_rng(cfg.seed)
    torch.manual_seed(cfg.seed)
    features, price = listings(6000, rng)
    x_scale, y_scale = Standardizer(features[:4800]), Standardizer(price[:4800])
    x, y = x_scale(features), y_scale(price)
    x_train, y_train, x_val, y_val = x[:4800], y[:4800], x[4800:], y[4800:]

    net = build_net(x.shape[1], cfg.width)
    optimizer = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg.epochs)
    for epoch in range(cfg.epochs):
        net.train()
        losses = []
        for idx in torch.randperm(len(x_train)).split(cfg.batch):
            loss = nn.functional.smooth_l1_loss(net(x_train[idx]), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        if epoch % 2 == 1:
            line = {"epoch": epoch + 1, "loss": round(float(np.mean(losses)), 4), **report(net, x_val, y_val, y_scale)}
            print(json.dumps(line))


if __name__ == "__main__":
    fit(Config.from_args())
