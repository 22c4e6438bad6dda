"""Texture classification; options live in a dataclass and can be overridden on the command line."""
import argparse
from dataclasses import asdict, dataclass, fields

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainConfig:
    num_classes: int = 5
    image_size: int = 16
    train_images: int = 1200
    test_images: int = 300
    channels: int = 12
    batch_size: int = 64
    epochs: int = 6
    lr: float = 0.1
    beta1: float = 0.9
    beta2: float = 0.999
    weight_decay: float = 1e-4
    seed: int = 0


def config_from_cli() -> TrainConfig:
    parser = argparse.ArgumentParser(description=__doc__)
    for f in fields(TrainConfig):
        parser.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default)
    return TrainConfig(**vars(parser.parse_args()))


def texture(kind, size, rng):
    yy, xx = np.mgrid[:size, :size]
    f = rng.uniform(0.8, 1.3)
    phase = rng.uniform(0, 6.28)
    if kind == 0:
        img = np.sin(f * xx + phase)
    elif kind == 1:
        img = np.sin(f * yy + phase)
    elif kind == 2:
        img = np.sin(f * (xx + yy) * 0.7 + phase)
    elif kind == 3:
        img = np.sin(f * xx + phase) * np.sin(f * yy + phase)
    else:
        img = np.sin(f * np.hypot(xx - size / 2, yy - size / 2) + phase)
    return img + rng.normal(0, 0.6, (size, size))


def make_split(n, cfg, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, cfg.num_classes, n)
    x = np.stack([texture(k, cfg.image_size, rng) for k in y])[:, None]
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


class TextureNet(nn.Module):
    def __init__(self, cfg: TrainConfig):
        super().__init__()
        c = cfg.channels
        self.body = nn.Sequential(
            nn.Conv2d(1, c, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(c, 2 * c, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(2 * c, 2 * c, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2), nn.Flatten(),
        )
        self.classifier = nn.Linear(8 * c, cfg.num_classes)

    def forward(self, x):
        return self.classifier(self.body(x))


class Runner:
    def __init__(self, cfg: TrainConfig):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.train_loader = DataLoader(make_split(cfg.train_images, cfg, 1), batch_size=cfg.batch_size, shuffle=True)
        self.test_loader = DataLoader(make_split(cfg.test_images, cfg, 2), batch_size=250)
        self.model = TextureNet(cfg)
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), lr=cfg.lr, betas=(cfg.beta1, cfg.beta2), weight_decay=cfg.weight_decay
        )
        self.criterion = nn.CrossEntropyLoss()

    def train_epoch(self):
        self.model.train()
        total, seen = 0.0, 0
        for x, y in self.train_loader:
            self.optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            total += loss.item() * len(y)
            seen += len(y)
        return total / seen

    @torch.no_grad()
    def test(self):
        self.model.eval()
        hits = sum((self.model(x).argmax(1) == y).sum().item() for x, y in self.test_loader)
        return hits / len(self.test_loader.dataset)

    def fit(self):
        for epoch in range(1, self.cfg.epochs + 1):
            loss = self.train_epoch()
            print(f"[{epoch:02d}/{self.cfg.epochs}] loss={loss:.4f} test_acc={self.test():.3f}")


if __name__ == "__main__":
    config = config_from_cli()
    print(asdict(config))
    Runner(config).fit()
