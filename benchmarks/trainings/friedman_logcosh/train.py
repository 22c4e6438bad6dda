"""Regression of the Friedman response with a log-cosh loss; settings in a dataclass, overridable on the command line."""
from __future__ import annotations

import argparse
import math
from dataclasses import dataclass, fields

import numpy as np
import torch
from sklearn.datasets import make_friedman1
from sklearn.metrics import mean_absolute_error, r2_score
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Settings:
    rows: int = 6000
    noise: float = 1.0
    width: int = 96
    depth: int = 2
    lr: float = 2e-3
    epochs: int = 14
    batch_size: int = 48
    weight_decay: float = 1e-4
    seed: int = 17

    @classmethod
    def from_cli(cls) -> "Settings":
        parser = argparse.ArgumentParser()
        for f in fields(cls):
            parser.add_argument("--" + f.name.replace("_", "-"), type=type(f.default), default=f.default)
        return cls(**vars(parser.parse_args()))


def log_cosh(pred: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    err = pred - target
    return (err + nn.functional.softplus(-2.0 * err) - math.log(2.0)).mean()


class Regressor(nn.Module):
    def __init__(self, d: int, width: int, depth: int):
        super().__init__()
        mods: list[nn.Module] = []
        for i in range(depth):
            mods += [nn.Linear(d if i == 0 else width, width), nn.SiLU()]
        self.trunk = nn.Sequential(*mods)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.trunk(x))


def load(s: Settings):
    x, y = make_friedman1(n_samples=s.rows, n_features=10, noise=s.noise, random_state=s.seed)
    k = int(0.8 * s.rows)
    sx, sy = StandardScaler().fit(x[:k]), StandardScaler().fit(y[:k, None])
    x = sx.transform(x).astype(np.float32)
    t = sy.transform(y[:, None]).astype(np.float32).ravel()
    train = TensorDataset(torch.from_numpy(x[:k]), torch.from_numpy(t[:k]))
    return train, torch.from_numpy(x[k:]), y[k:], sy


def predict(model, x, scaler):
    model.eval()
    with torch.no_grad():
        out = model(x).numpy()
    return scaler.inverse_transform(out.reshape(-1, 1)).ravel()


def main():
    s = Settings.from_cli()
    torch.manual_seed(s.seed)
    train, x_test, y_test, scaler = load(s)
    loader = DataLoader(train, batch_size=s.batch_size, shuffle=True)
    model = Regressor(10, s.width, s.depth)
    opt = torch.optim.AdamW(model.parameters(), lr=s.lr, weight_decay=s.weight_decay)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=s.epochs)
    print(s)
    for epoch in range(s.epochs):
        model.train()
        total = 0.0
        for xb, yb in loader:
            opt.zero_grad()
            loss = log_cosh(model(xb), yb)
            loss.backward()
            opt.step()
            total += loss.item() * len(xb)
        sched.step()
        if epoch % 2 == 1:
            p = predict(model, x_test, scaler)
            print(
                f"epoch {epoch + 1:2d} train {total / len(train):.4f} test MAE {mean_absolute_error(y_test, p):.3f}"
                f" R2 {r2_score(y_test, p):.4f}"
            )


if __name__ == "__main__":
    main()
