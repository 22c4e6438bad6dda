"""Fault location in a power relay signal: deep per-channel towers, trained with Accelerate."""
import argparse

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, Dataset
from tqdm.auto import tqdm

N_CHANNELS, N_POINTS, N_LINES = 6, 20, 6


class RelayRecords(Dataset):
    """Current traces on six channels; the faulty line carries a decaying transient, the others carry hum."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        t = np.arange(N_POINTS)
        self.y = rng.integers(0, N_LINES, n)
        hum = np.sin(2 * np.pi * (t / 10 + rng.random((n, N_CHANNELS, 1))))
        x = hum + 0.5 * rng.normal(size=(n, N_CHANNELS, N_POINTS))
        onset = rng.integers(0, 14, n)
        for i in range(n):
            s = np.where(t >= onset[i], np.exp(-(t - onset[i]) / 2.5) * np.cos(2.2 * (t - onset[i])), 0)
            x[i, self.y[i]] += 1.8 * s * rng.choice([-1, 1])
        self.x = x.astype("float32")

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


class Tower(nn.Module):
    """Scores one channel."""

    def __init__(self, hidden):
        super().__init__()
        self.fc1 = nn.Linear(N_POINTS, hidden)
        self.fc2 = nn.Linear(hidden, hidden)

    def forward(self, x):
        return F.relu(self.fc2(F.relu(self.fc1(x))))


class RelayNet(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.towers = [Tower(hidden) for _ in range(N_CHANNELS)]
        self.mix = nn.Linear(hidden * N_CHANNELS, N_LINES)

    def forward(self, x):
        feats = [tower(x[:, c]) for c, tower in enumerate(self.towers)]
        return self.mix(torch.cat(feats, dim=1))


def evaluate(accelerator, model, loader):
    model.eval()
    preds, refs = [], []
    for x, y in loader:
        with torch.no_grad():
            out = model(x).argmax(1)
        out, y = accelerator.gather_for_metrics((out, y))
        preds.append(out)
        refs.append(y)
    return (torch.cat(preds) == torch.cat(refs)).float().mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--batch-size", type=int, default=64)
    args = parser.parse_args()

    set_seed(77)
    accelerator = Accelerator(cpu=True)
    train_loader = DataLoader(RelayRecords(5000, 0), batch_size=args.batch_size, shuffle=True)
    val_loader = DataLoader(RelayRecords(1000, 1), batch_size=250)
    model = RelayNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-3)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=args.epochs * len(train_loader))
    model, optimizer, train_loader, val_loader, scheduler = accelerator.prepare(
        model, optimizer, train_loader, val_loader, scheduler
    )

    for epoch in range(args.epochs):
        model.train()
        bar = tqdm(train_loader, desc=f"epoch {epoch}", disable=True)
        total = 0.0
        for x, y in bar:
            loss = F.cross_entropy(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            total += loss.item()
        accelerator.print(f"epoch {epoch:2d} loss {total / len(train_loader):.4f} val_acc {evaluate(accelerator, model, val_loader):.4f}")


if __name__ == "__main__":
    main()
