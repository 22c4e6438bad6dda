"""1-d CNN on simulated vibration signals; settings in signal_yaml.yaml."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

KINDS = ("healthy", "inner", "outer", "ball")


def as_namespace(tree):
    if isinstance(tree, dict):
        return SimpleNamespace(**{k: as_namespace(v) for k, v in tree.items()})
    return tree


def load_config():
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).with_suffix(".yaml")
    return as_namespace(yaml.safe_load(path.read_text()))


def vibrations(n, cfg, rng):
    label = rng.integers(0, len(KINDS), n)
    t = np.arange(cfg.window)
    base = np.sin(2 * np.pi * t / 25 + rng.uniform(0, 6.28, (n, 1)))
    period = np.array([1000, 7, 11, 16])[label][:, None]
    shift = rng.integers(0, 7, (n, 1))
    knocks = ((t + shift) % period == 0) * 3.0 * (label[:, None] > 0)
    signal = base + knocks + cfg.noise * rng.standard_normal((n, cfg.window))
    return TensorDataset(torch.tensor(signal, dtype=torch.float32).unsqueeze(1), torch.tensor(label))


class VibrationNet(nn.Module):
    def __init__(self, channels, dropout):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(1, channels, 9, padding=4),
            nn.ReLU(),
            nn.MaxPool1d(2),
            nn.Conv1d(channels, channels, 9, padding=4),
            nn.ReLU(),
            nn.AdaptiveAvgPool1d(6),
            nn.Flatten(),
        )
        self.dropout = nn.Dropout(dropout)
        self.head = nn.Linear(channels * 6, len(KINDS))

    def forward(self, x):
        return self.head(self.dropout(self.encoder(x)))


def make_optimizer(model, cfg):
    if cfg.name == "adam":
        return torch.optim.Adam(model.parameters(), lr=cfg.lr, weight_decay=cfg.weight_decay)
    if cfg.name == "sgd":
        return torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=0.9, weight_decay=cfg.weight_decay)
    raise ValueError(f"unknown optimizer {cfg.name}")


@torch.no_grad()
def validate(model, loader):
    model.eval()
    right = sum((model(x).argmax(1) == y).sum().item() for x, y in loader)
    model.train()
    return right / len(loader.dataset)


def main():
    cfg = load_config()
    torch.manual_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    train = DataLoader(vibrations(cfg.data.n_train, cfg.data, rng), cfg.train.batch_size, shuffle=True)
    val = DataLoader(vibrations(cfg.data.n_val, cfg.data, rng), 200)
    model = VibrationNet(cfg.model.channels, cfg.model.dropout)
    optimizer = make_optimizer(model, cfg.optim)
    criterion = nn.CrossEntropyLoss()

    step = 0
    for epoch in range(cfg.train.epochs):
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            step += 1
            if step % cfg.train.log_every == 0:
                print(f"step {step} loss {loss.item():.4f}")
        print(f"epoch {epoch} val accuracy {validate(model, val):.4f}")


if __name__ == "__main__":
    main()
