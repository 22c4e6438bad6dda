"""Mixed-precision loop (autocast, GradScaler, accumulation, clipping) for gesture recognition."""
import argparse
import math

import numpy as np
import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset


def gestures(n, seed):
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 5, n)
    t = np.linspace(0, 1, 24)
    speed = rng.uniform(0.8, 1.2, (n, 1))
    turn = rng.uniform(-0.3, 0.3, (n, 1))
    freq = np.array([1, 2, 1, 2, 3])[kind][:, None]
    ratio = np.array([1, 1, 2, 2, 1])[kind][:, None]
    x = np.sin(2 * math.pi * freq * speed * t + turn)
    y = np.cos(2 * math.pi * freq * ratio * speed * t)
    path = np.concatenate([x, y], axis=1) + rng.normal(0, 0.3, (n, 48))
    return TensorDataset(torch.tensor(path, dtype=torch.float32), torch.tensor(kind))


def model_for(width):
    return nn.Sequential(
        nn.Linear(48, width), nn.LayerNorm(width), nn.GELU(), nn.Linear(width, width), nn.GELU(), nn.Linear(width, 5)
    )


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = model_for(args.width)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
        self.scaler = GradScaler("cpu", init_scale=2.0**16)
        self.criterion = nn.CrossEntropyLoss()

    def train_epoch(self, loader):
        self.model.train()
        total = 0.0
        self.optimizer.zero_grad(set_to_none=True)
        for i, (x, y) in enumerate(loader, start=1):
            with autocast("cpu", dtype=torch.bfloat16):
                loss = self.criterion(self.model(x), y) / self.args.accumulate
            self.scaler.scale(loss).backward()
            if i % self.args.accumulate == 0:
                self.scaler.unscale_(self.optimizer)
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.args.clip)
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad(set_to_none=True)
            total += loss.item() * self.args.accumulate
        return total / len(loader)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        hits = n = 0
        for x, y in loader:
            with autocast("cpu", dtype=torch.bfloat16):
                guess = self.model(x).argmax(1)
            hits += (guess == y).sum().item()
            n += len(y)
        return hits / n


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--clip", type=float, default=1.0)
    parser.add_argument("--accumulate", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=6)
    args = parser.parse_args()
    torch.manual_seed(0)
    train = DataLoader(gestures(2000, 0), batch_size=32, shuffle=True)
    test = DataLoader(gestures(500, 1), batch_size=250)
    trainer = Trainer(args)
    for epoch in range(1, args.epochs + 1):
        loss = trainer.train_epoch(train)
        print(f"epoch {epoch} loss {loss:.4f} test acc {trainer.evaluate(test):.3f} scale {trainer.scaler.get_scale():.0f}")


if __name__ == "__main__":
    main()
