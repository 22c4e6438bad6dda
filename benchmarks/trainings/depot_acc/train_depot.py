"""Delay of trams at the depot: Accelerate with gradient accumulation and warm-up."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset
from transformers import get_cosine_schedule_with_warmup


def tram_log(n, seed):
    """Standardised weather, hour (as sine and cosine), line number; delay in minutes, standardised by known figures."""
    rng = np.random.default_rng(seed)
    weather = rng.normal(size=(n, 3))
    hour = rng.uniform(0, 24, n)
    line = rng.integers(0, 8, n)
    rush = np.exp(-((hour - 8) ** 2) / 4) + np.exp(-((hour - 17) ** 2) / 6)
    offset = np.linspace(-0.6, 0.6, 8)[line]
    delay = 1.5 * rush * (1 + 0.4 * weather[:, 0]) + offset + 0.3 * np.maximum(weather[:, 1], 0) + rng.normal(0, 0.1, n)
    numeric = np.column_stack([weather, np.sin(hour * np.pi / 12), np.cos(hour * np.pi / 12)])
    return (
        torch.tensor(numeric, dtype=torch.float32),
        torch.tensor(line),
        torch.tensor(delay - 0.6, dtype=torch.float32),
    )


class DelayNet(nn.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.line = nn.Embedding(8, 4)
        self.net = nn.Sequential(nn.Linear(9, hidden), nn.GELU(), nn.Linear(hidden, hidden), nn.GELU(), nn.Linear(hidden, 1))

    def forward(self, numeric, line):
        return self.net(torch.cat([numeric, self.line(line)], dim=1)).squeeze(1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--accumulation", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()
    set_seed(101)
    accelerator = Accelerator(gradient_accumulation_steps=args.accumulation, cpu=True)
    train = DataLoader(TensorDataset(*tram_log(3200, 0)), batch_size=16, shuffle=True)
    val = DataLoader(TensorDataset(*tram_log(800, 1)), batch_size=400)
    model = DelayNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    updates = args.epochs * len(train) // args.accumulation
    scheduler = get_cosine_schedule_with_warmup(optimizer, updates // 10, updates)
    model, optimizer, train, val, scheduler = accelerator.prepare(model, optimizer, train, val, scheduler)
    criterion = nn.SmoothL1Loss(beta=0.5)

    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for numeric, line, delay in train:
            with accelerator.accumulate(model):
                loss = criterion(model(numeric, line), delay)
                accelerator.backward(loss)
                if accelerator.sync_gradients:
                    accelerator.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                scheduler.step()
                optimizer.zero_grad()
            total += loss.item()
        model.eval()
        errors, targets = [], []
        for numeric, line, delay in val:
            with torch.no_grad():
                pred = model(numeric, line)
            pred, delay = accelerator.gather_for_metrics((pred, delay))
            errors.append(pred - delay)
            targets.append(delay)
        err, y = torch.cat(errors), torch.cat(targets)
        r2 = 1 - err.pow(2).sum() / (y - y.mean()).pow(2).sum()
        accelerator.print(f"epoch {epoch:2d} loss {total / len(train):.4f} val MAE {err.abs().mean().item():.4f} val R2 {r2.item():.4f}")


if __name__ == "__main__":
    main()
