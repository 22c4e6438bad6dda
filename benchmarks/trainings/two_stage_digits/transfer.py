"""Pretrain a conv net on digits 0-4, then move it to digits 5-9.

Only the classification layer is fitted in the second stage.
"""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


def get_sets(low, seed):
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32).unsqueeze(1) / 16
    y = torch.tensor(d.target)
    keep = y < 5 if low else y >= 5
    x, y = x[keep], y[keep] - (0 if low else 5)
    g = torch.Generator().manual_seed(seed)
    perm = torch.randperm(len(x), generator=g)
    n = int(0.7 * len(x))
    return TensorDataset(x[perm[:n]], y[perm[:n]]), TensorDataset(x[perm[n:]], y[perm[n:]])


class Net(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 32, 3, padding=1), nn.ReLU(),
            nn.Conv2d(32, 48, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(48, 64, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
            nn.Flatten(),
        )
        self.head = nn.Linear(64 * 4, classes)

    def forward(self, x):
        return self.head(self.features(x))


class Runner:
    def __init__(self, model, lr):
        self.model = model
        self.set_optimizer(lr)

    def set_optimizer(self, lr):
        params = [p for p in self.model.parameters() if p.requires_grad]
        self.opt = torch.optim.Adam(params, lr=lr)

    def epoch(self, loader):
        self.model.train()
        total = 0.0
        for x, y in loader:
            loss = F.cross_entropy(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
        return total / len(loader.dataset)

    @torch.no_grad()
    def score(self, loader):
        self.model.eval()
        return sum((self.model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--pre-epochs", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=25)
    ap.add_argument("--bs", type=int, default=32)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    a_tr, a_te = get_sets(True, args.seed)
    b_tr, b_te = get_sets(False, args.seed)
    dl = lambda ds, sh: DataLoader(ds, args.bs, shuffle=sh)

    runner = Runner(Net(5), lr=2e-3)
    for ep in range(args.pre_epochs):
        loss = runner.epoch(dl(a_tr, True))
        print(f"[stage 1] epoch {ep + 1} loss {loss:.4f} test acc {runner.score(dl(a_te, False)):.3f}")

    for p in runner.model.features.parameters():
        p.requires_grad_(False)
    runner.set_optimizer(lr=5e-3)
    runner.model.head = nn.Linear(runner.model.head.in_features, 5)
    for ep in range(args.epochs):
        loss = runner.epoch(dl(b_tr, True))
        if (ep + 1) % 5 == 0:
            print(f"[stage 2] epoch {ep + 1} loss {loss:.4f} test acc {runner.score(dl(b_te, False)):.3f}")


if __name__ == "__main__":
    main()
