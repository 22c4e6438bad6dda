"""Residual MLP on letter-like glyph vectors; optional bf16 autocast and gradient accumulation."""
import time
from dataclasses import dataclass

import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class Args:
    n: int = 5000
    dim: int = 40
    classes: int = 8
    width: int = 96
    depth: int = 3
    micro_batch: int = 32
    accum: int = 4
    epochs: int = 6
    lr: float = 0.05
    momentum: float = 0.9
    clip: float = 5.0
    amp: bool = False
    seed: int = 1


class ResBlock(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(w), nn.Linear(w, w), nn.SiLU(), nn.Linear(w, w))

    def forward(self, x):
        return x + self.body(x)


def make_model(a):
    return nn.Sequential(nn.Linear(a.dim, a.width), *[ResBlock(a.width) for _ in range(a.depth)],
                         nn.LayerNorm(a.width), nn.Linear(a.width, a.classes))


def load(a):
    x, y = make_classification(a.n, a.dim, n_informative=14, n_redundant=6, n_classes=a.classes,
                               n_clusters_per_class=3, class_sep=1.4, random_state=a.seed)
    n = int(a.n * 0.8)
    sc = StandardScaler().fit(x[:n])
    x = sc.transform(x).astype(np.float32)
    t = torch.from_numpy
    return TensorDataset(t(x[:n]), t(y[:n])), TensorDataset(t(x[n:]), t(y[n:]))


@torch.no_grad()
def validate(model, loader, crit):
    model.eval()
    loss = hit = n = 0
    for x, y in loader:
        out = model(x)
        loss += crit(out, y).item() * len(y)
        hit += (out.argmax(-1) == y).sum().item()
        n += len(y)
    return loss / n, hit / n


def main():
    a = Args()
    torch.manual_seed(a.seed)
    train, val = load(a)
    train_dl = DataLoader(train, a.micro_batch, shuffle=True, drop_last=True)
    val_dl = DataLoader(val, 256)
    model = make_model(a)
    crit = nn.CrossEntropyLoss()
    opt = torch.optim.SGD(model.parameters(), lr=a.lr, momentum=a.momentum, weight_decay=1e-4)
    updates = a.epochs * (len(train_dl) // a.accum)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, updates)

    for epoch in range(a.epochs):
        t0 = time.time()
        model.train()
        seen = 0.0
        opt.zero_grad(set_to_none=True)
        for i, (x, y) in enumerate(train_dl):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.amp):
                logits = model(x)
            loss = crit(logits.float(), y) / a.accum
            loss.backward()
            seen += loss.item() * a.accum
            if (i + 1) % a.accum == 0:
                nn.utils.clip_grad_norm_(model.parameters(), a.clip)
                opt.step()
                sched.step()
        vl, va = validate(model, val_dl, crit)
        print(f"epoch {epoch + 1} train {seen / len(train_dl):.4f} val {vl:.4f} acc {va:.4f} "
              f"lr {sched.get_last_lr()[0]:.4f} ({time.time() - t0:.1f}s)")


if __name__ == "__main__":
    main()
