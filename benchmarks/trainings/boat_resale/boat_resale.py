"""Resale value of small boats from age, length, engine hours and so on."""
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, random_split


@dataclass
class Config:
    rows: int = 6000
    hidden: int = 96
    lr: float = 1e-3
    epochs: int = 20
    batch: int = 64
    seed: int = 5


class BoatTable(Dataset):
    columns = ["age", "length", "hours", "berths", "refit", "region"]

    def __init__(self, cfg: Config):
        rng = np.random.default_rng(cfg.seed)
        age = rng.uniform(0, 40, cfg.rows)
        length = rng.normal(9, 2, cfg.rows).clip(4, 18)
        hours = rng.gamma(2.0, 40.0, cfg.rows) * (1 + age / 10)
        berths = (length / 2.5).round() + rng.integers(-1, 2, cfg.rows)
        refit = rng.random(cfg.rows) < 0.2
        region = rng.integers(0, 3, cfg.rows)
        log_price = (
            1.7 * np.log(length) - 0.045 * age + 0.25 * refit * (age > 10) - 0.0004 * hours
            + np.array([0.0, 0.15, -0.1])[region] + rng.normal(0, 0.12, cfg.rows)
        )
        feats = np.stack([age, length, hours, berths, refit, region == 1, region == 2], 1).astype(np.float32)
        self.mean, self.std = feats.mean(0), feats.std(0)
        self.x = torch.from_numpy((feats - self.mean) / self.std)
        y = log_price.astype(np.float32)
        self.y = torch.from_numpy((y - y.mean()) / y.std())

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def build(cfg: Config, d_in: int) -> nn.Module:
    return nn.Sequential(
        nn.Linear(d_in, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, cfg.hidden), nn.ReLU(),
        nn.Linear(cfg.hidden, 1),
    )


@torch.no_grad()
def r_squared(model, loader):
    model.eval()
    preds, truth = [], []
    for x, y in loader:
        preds.append(model(x).flatten())
        truth.append(y)
    p, t = torch.cat(preds), torch.cat(truth)
    return 1 - ((p - t) ** 2).sum().item() / ((t - t.mean()) ** 2).sum().item()


def train(cfg: Config):
    torch.manual_seed(cfg.seed)
    data = BoatTable(cfg)
    n_val = cfg.rows // 5
    tr, va = random_split(data, [cfg.rows - n_val, n_val])
    tr_dl = DataLoader(tr, batch_size=cfg.batch, shuffle=True)
    va_dl = DataLoader(va, batch_size=256)
    model = build(cfg, data.x.shape[1])
    opt = torch.optim.Adam(model.parameters(), lr=cfg.lr)
    criterion = nn.SmoothL1Loss()
    for epoch in range(cfg.epochs):
        model.train()
        running = 0.0
        for x, y in tr_dl:
            out = model(x)
            loss = criterion(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            running += loss.item()
        if (epoch + 1) % 4 == 0:
            print(f"epoch {epoch + 1}: train {running / len(tr_dl):.4f}  val R2 {r_squared(model, va_dl):.3f}")
    return r_squared(model, va_dl)


if __name__ == "__main__":
    import warnings

    warnings.filterwarnings("ignore", category=UserWarning)
    print("final R2", round(train(Config()), 3))
