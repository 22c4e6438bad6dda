"""Small CNN for pen-stroke digits with heavy augmentation. Usage: python train.py [--epochs 12 --lr 2e-3 ...]"""
import argparse
from dataclasses import dataclass, fields

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset, Subset


@dataclass
class TrainConfig:
    epochs: int = 10
    batch_size: int = 64
    lr: float = 2e-3
    max_shift: int = 1
    erase: int = 3
    noise: float = 0.15
    val_fraction: float = 0.25
    seed: int = 10


def get_config() -> TrainConfig:
    p = argparse.ArgumentParser()
    for f in fields(TrainConfig):
        p.add_argument("--" + f.name.replace("_", "-"), type=f.type, default=f.default)
    return TrainConfig(**vars(p.parse_args()))


class Augment:
    """Random shift, one erased square, pixel noise."""

    def __init__(self, max_shift, erase, noise):
        self.max_shift, self.erase, self.noise = max_shift, erase, noise

    def __call__(self, img):
        dy, dx = np.random.randint(-self.max_shift, self.max_shift + 1, 2)
        img = torch.roll(img, (int(dy), int(dx)), dims=(1, 2)).clone()
        top, left = np.random.randint(0, 8 - self.erase + 1, 2)
        img[:, top : top + self.erase, left : left + self.erase] = 0
        return img + self.noise * torch.randn_like(img)


class Strokes(Dataset):
    def __init__(self, transform=None):
        raw = load_digits()
        self.images = torch.tensor(raw.images / 16.0, dtype=torch.float32).unsqueeze(1)
        self.labels = torch.tensor(raw.target)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        img = self.images[i]
        if self.transform is not None:
            img = self.transform(img)
        return img, self.labels[i]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16)
        self.c2, self.b2 = nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.fc1, self.fc2 = nn.Linear(32 * 4, 64), nn.Linear(64, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.b1(self.c1(x))), 2)
        x = F.max_pool2d(F.relu(self.b2(self.c2(x))), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def make_loaders(cfg):
    data = Strokes(transform=Augment(cfg.max_shift, cfg.erase, cfg.noise))
    order = np.random.permutation(len(data))
    n_val = int(cfg.val_fraction * len(data))
    train_set = Subset(data, order[n_val:])
    val_set = Subset(data, order[:n_val])
    return (
        DataLoader(train_set, batch_size=cfg.batch_size, shuffle=True),
        DataLoader(val_set, batch_size=256),
    )


def main():
    cfg = get_config()
    np.random.seed(cfg.seed)
    torch.manual_seed(cfg.seed)
    train_loader, val_loader = make_loaders(cfg)
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg.lr)
    for epoch in range(1, cfg.epochs + 1):
        model.train()
        losses = []
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        correct, val_loss, n = 0, 0.0, 0
        with torch.no_grad():
            for x, y in val_loader:
                logits = model(x)
                val_loss += F.cross_entropy(logits, y, reduction="sum").item()
                correct += (logits.argmax(1) == y).sum().item()
                n += len(y)
        print(f"epoch {epoch:02d} | train loss {np.mean(losses):.4f} | val loss {val_loss / n:.4f} | val acc {correct / n:.4f}")


if __name__ == "__main__":
    main()
