"""Metric learning on spectrum-like signatures: pull recordings of the same species together, push others apart.
Evaluated by 1-nearest-neighbour on species never seen in training."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Recordings:
    def __init__(self, n_species=60, per_species=24, bins=64, seed=0):
        g = np.random.default_rng(seed)
        grid = np.arange(bins)
        self.x, self.y = [], []
        for s in range(n_species):
            centres = g.uniform(4, bins - 4, 3)
            heights = g.uniform(0.6, 1.2, 3)
            for _ in range(per_species):
                shift, gain = g.normal(0, 1.2), g.uniform(0.5, 1.5)
                spec = sum(h * np.exp(-0.5 * ((grid - c - shift) / 2.0) ** 2) for c, h in zip(centres, heights))
                self.x.append(gain * spec + g.normal(0, 0.15, bins))
                self.y.append(s)
        self.x = np.asarray(self.x, np.float32)
        self.x = (self.x - 0.2) / 0.35
        self.y = np.asarray(self.y)


class TripletDataset(Dataset):
    def __init__(self, x, y, length, seed):
        self.x, self.y, self.length = torch.from_numpy(x), y, length
        self.rng = np.random.default_rng(seed)
        self.by_class = {c: np.flatnonzero(y == c) for c in np.unique(y)}

    def __len__(self):
        return self.length

    def __getitem__(self, _):
        a_cls, n_cls = self.rng.choice(list(self.by_class), 2, replace=False)
        a, p = self.rng.choice(self.by_class[a_cls], 2, replace=False)
        n = self.rng.choice(self.by_class[n_cls])
        return self.x[a], self.x[p], self.x[n]


class Embedder(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.conv = nn.Sequential(
            nn.Conv1d(1, 16, 7, stride=2, padding=3), nn.ReLU(),
            nn.Conv1d(16, 32, 5, stride=2, padding=2), nn.ReLU(),
        )
        self.fc = nn.Sequential(nn.Flatten(), nn.Linear(32 * 16, 64), nn.ReLU(), nn.Linear(64, dim))

    def forward(self, x):
        return self.fc(self.conv(x.unsqueeze(1)))


def triplet_loss(anchor, positive, negative, margin):
    d_pos = (anchor - positive).pow(2).sum(dim=1)
    d_neg = (anchor - negative).pow(2).sum(dim=1)
    return (d_pos - d_neg + margin).mean()


@torch.no_grad()
def one_nn(model, x, y):
    model.eval()
    z = model(torch.from_numpy(x))
    d = torch.cdist(z, z)
    d.fill_diagonal_(float("inf"))
    model.train()
    return float((y[d.argmin(1).numpy()] == y).mean()), float(z.norm(dim=1).mean())


def run(opts):
    torch.manual_seed(opts.seed)
    rec = Recordings(seed=opts.seed)
    seen = rec.y < 45
    loader = DataLoader(TripletDataset(rec.x[seen], rec.y[seen], 3200, opts.seed + 1), batch_size=64)
    model = Embedder()
    optimizer = torch.optim.Adam(model.parameters(), lr=opts.lr)
    acc, size = one_nn(model, rec.x[~seen], rec.y[~seen])
    print(f"before training: 1-NN accuracy on new species {acc:.3f}, embedding norm {size:.2f}")
    for epoch in range(opts.epochs):
        total = 0.0
        for a, p, n in loader:
            za, zp, zn = model(torch.cat([a, p, n])).chunk(3)
            loss = triplet_loss(za, zp, zn, opts.margin)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        acc, size = one_nn(model, rec.x[~seen], rec.y[~seen])
        print(f"epoch {epoch + 1}: loss {total / len(loader):.4f}  1-NN {acc:.3f}  norm {size:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--margin", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=8)
    run(parser.parse_args())
