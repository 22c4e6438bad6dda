"""Residual conv net on the digits; settings in the YAML file of the same name."""

import math
from pathlib import Path

import torch
import torch.nn as nn
import torch.nn.functional as F
from omegaconf import OmegaConf
from sklearn.datasets import load_digits


class ResBlock(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        nn.init.zeros_(self.bn2.weight)

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        return F.relu(x + self.bn2(self.conv2(y)))


class ResNet(nn.Module):
    def __init__(self, width, blocks):
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(1, width, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(width), nn.ReLU()
        )
        self.stages = nn.Sequential(*[ResBlock(width) for _ in range(blocks)])
        self.fc = nn.Linear(width, 10)

    def forward(self, x):
        return self.fc(self.stages(self.stem(x)).mean(dim=(2, 3)))


def load(seed):
    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(y), generator=torch.Generator().manual_seed(seed))
    train, test = order[:1400], order[1400:]
    mean, std = x[train].mean(), x[train].std()
    x = (x - mean) / std
    return x[train], y[train], x[test], y[test]


def shift(x):
    dy, dx = torch.randint(-1, 2, (2,)).tolist()
    return torch.roll(x, (dy, dx), dims=(2, 3))


def lr_at(epoch, cfg):
    warm, total = cfg.schedule.warmup_epochs, cfg.schedule.epochs
    if epoch < warm:
        return (epoch + 1) / (warm + 1)
    return 0.5 * (1 + math.cos(math.pi * (epoch - warm) / (total - warm)))


def accuracy(net, x, y):
    net.eval()
    with torch.no_grad():
        return (net(x).argmax(1) == y).float().mean().item()


def main():
    cfg = OmegaConf.merge(OmegaConf.load(Path(__file__).with_suffix(".yaml")), OmegaConf.from_cli())
    torch.manual_seed(cfg.seed)
    x_train, y_train, x_test, y_test = load(cfg.seed)
    net = ResNet(cfg.model.width, cfg.model.blocks)
    optimizer = torch.optim.SGD(net.parameters(), **OmegaConf.to_container(cfg.optimizer))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda e: lr_at(e, cfg))
    criterion = nn.CrossEntropyLoss(label_smoothing=cfg.label_smoothing)
    for epoch in range(cfg.schedule.epochs):
        net.train()
        losses = []
        for idx in torch.randperm(len(x_train)).split(cfg.batch_size):
            loss = criterion(net(shift(x_train[idx])), y_train[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        lr = scheduler.get_last_lr()[0]
        scheduler.step()
        print(f"epoch {epoch:2d} lr {lr:.4f} loss {sum(losses) / len(losses):.4f} test {accuracy(net, x_test, y_test):.4f}")


if __name__ == "__main__":
    main()
