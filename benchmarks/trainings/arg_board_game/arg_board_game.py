"""Who wins a small pencil game: positions are counted out from a tiny domain, so equal rows occur on both sides."""

import argparse
import itertools
from dataclasses import dataclass, field

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


@dataclass
class TrainingConfig:
    epochs: int = 12
    batch_size: int = 64
    lr: float = 0.5
    momentum: float = 0.0
    widths: list[int] = field(default_factory=lambda: [64, 64])
    label_smoothing: float = 0.05
    seed: int = 17


def nim_value(heaps):
    total = 0
    for heap in heaps:
        total ^= heap
    return int(total != 0)


def played_games(n, generator):
    """Positions as players reach them: drawn from 8^3 possible ones, with repetition."""
    every = torch.tensor(list(itertools.product(range(8), repeat=3)))
    drawn = every[torch.randint(0, len(every), (n,), generator=generator)]
    # Half of the rows are drawn from lost positions, which are rare otherwise.
    lost = every[[nim_value(row) == 0 for row in every.tolist()]]
    half = lost[torch.randint(0, len(lost), (n // 2,), generator=generator)]
    drawn[: n // 2] = half
    won = torch.tensor([nim_value(row) for row in drawn.tolist()])
    bits = torch.stack([(drawn >> b) & 1 for b in range(3)], dim=-1).flatten(1)
    return bits.float() * 2 - 1, won


def mlp(inputs, widths, outputs):
    layers = []
    for width in widths:
        layers += [nn.Linear(inputs, width), nn.ReLU()]
        inputs = width
    return nn.Sequential(*layers, nn.Linear(inputs, outputs))


def main(cfg):
    torch.manual_seed(cfg.seed)
    generator = torch.Generator().manual_seed(cfg.seed)
    x, y = played_games(4000, generator)
    order = torch.randperm(len(x), generator=generator)
    train, val = order[:3200], order[3200:]
    loader = DataLoader(TensorDataset(x[train], y[train]), batch_size=cfg.batch_size, shuffle=True)

    model = mlp(x.shape[1], cfg.widths, 2)
    # Plain SGD without momentum: half a unit is a usual step size for a net this small.
    optimizer = torch.optim.SGD(model.parameters(), lr=cfg.lr, momentum=cfg.momentum)
    criterion = nn.CrossEntropyLoss(label_smoothing=cfg.label_smoothing)
    for epoch in range(cfg.epochs):
        total = 0.0
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = criterion(model(xb), yb)
            loss.backward()
            optimizer.step()
            total += loss.item()
        with torch.no_grad():
            logits = model(x[val])
        acc = (logits.argmax(1) == y[val]).float().mean().item()
        print(f"epoch {epoch:2d} loss {total / len(loader):.4f} val {F.cross_entropy(logits, y[val]):.4f} acc {acc:.3f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=0.5)
    given = parser.parse_args()
    main(TrainingConfig(epochs=given.epochs, lr=given.lr))
