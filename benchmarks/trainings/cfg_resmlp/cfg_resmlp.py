"""Digits with a residual MLP, SGD with a large rate, label smoothing, cosine schedule with warm-up, averaged weights."""
import argparse
import math
from dataclasses import dataclass

import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Config:
    width: int = 128
    depth: int = 4
    epochs: int = 30
    batch_size: int = 128
    base_lr: float = 0.4
    momentum: float = 0.9
    weight_decay: float = 5e-4
    warmup_epochs: int = 3
    smoothing: float = 0.1
    ema_decay: float = 0.98
    clip: float = 2.0
    seed: int = 21


class ResidualBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.BatchNorm1d(width)
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)
        nn.init.zeros_(self.fc2.weight)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(self.norm(x))))


class ResMLP(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.stem = nn.Linear(64, cfg.width)
        self.blocks = nn.Sequential(*[ResidualBlock(cfg.width) for _ in range(cfg.depth)])
        self.head = nn.Sequential(nn.BatchNorm1d(cfg.width), nn.Linear(cfg.width, 10))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


def param_groups(model, weight_decay):
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]


def loaders(cfg):
    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=cfg.seed, stratify=y)
    mean, std = x_train.mean(), x_train.std()

    def wrap(a, b):
        return TensorDataset(torch.tensor((a - mean) / std, dtype=torch.float32), torch.tensor(b))

    train = DataLoader(wrap(x_train, y_train), cfg.batch_size, shuffle=True, drop_last=True)
    return train, DataLoader(wrap(x_test, y_test), 512, shuffle=False)


def lr_at(step, steps, warmup):
    if step < warmup:
        return (step + 1) / warmup
    return 0.5 * (1 + math.cos(math.pi * (step - warmup) / (steps - warmup)))


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main(cfg):
    torch.manual_seed(cfg.seed)
    train, test = loaders(cfg)
    model = ResMLP(cfg)
    ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(cfg.ema_decay), use_buffers=True)
    optimizer = torch.optim.SGD(param_groups(model, cfg.weight_decay), lr=cfg.base_lr, momentum=cfg.momentum, nesterov=True)
    steps, warmup = cfg.epochs * len(train), cfg.warmup_epochs * len(train)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: lr_at(s, steps, warmup))
    criterion = nn.CrossEntropyLoss(label_smoothing=cfg.smoothing)
    for epoch in range(cfg.epochs):
        model.train()
        for x, y in train:
            loss = criterion(model(x), y)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), cfg.clip)
            optimizer.step()
            scheduler.step()
            ema.update_parameters(model)
        if epoch % 5 == 4:
            print(f"epoch {epoch + 1} loss {loss.item():.3f} acc {accuracy(model, test):.3f} ema {accuracy(ema, test):.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name, value in vars(Config()).items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    main(Config(**vars(parser.parse_args())))
