"""Ripeness from small fruit images, batch of two with group norm, accelerate with accumulation."""
import argparse

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Fruit(Dataset):
    def __init__(self, n, seed, side=12):
        r = np.random.default_rng(seed)
        yy, xx = np.mgrid[:side, :side] - side / 2
        self.y = r.integers(0, 3, n)
        hue = np.array([[0.2, 0.7, 0.2], [0.7, 0.7, 0.2], [0.8, 0.3, 0.2]])[self.y]
        rad = r.uniform(2.5, 5, n)
        disc = (np.hypot(yy, xx)[None] < rad[:, None, None]).astype(float)
        light = r.uniform(0.5, 1.2, (n, 1, 1, 1))
        img = disc[:, None] * (hue + r.normal(0, 0.15, hue.shape))[:, :, None, None] * light + r.normal(0, 0.2, (n, 3, side, side))
        self.x = img.astype(np.float32)

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], int(self.y[i])


def net(w):
    return nn.Sequential(
        nn.Conv2d(3, w, 3, padding=1), nn.GroupNorm(4, w), nn.SiLU(), nn.MaxPool2d(2),
        nn.Conv2d(w, 2 * w, 3, padding=1), nn.GroupNorm(4, 2 * w), nn.SiLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(2 * w, 3))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch-size", type=int, default=2)
    ap.add_argument("--accum", type=int, default=8)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--lr", type=float, default=8e-3)
    args = ap.parse_args()
    acc = Accelerator(cpu=True, gradient_accumulation_steps=args.accum)
    set_seed(0)
    train = DataLoader(Fruit(600, 1), args.batch_size, shuffle=True)
    test = DataLoader(Fruit(300, 2), 100)
    model = net(12)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    updates = args.epochs * len(train) // args.accum
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: max(0.02, 1 - s / updates))
    model, opt, train, test, sched = acc.prepare(model, opt, train, test, sched)
    for ep in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            with acc.accumulate(model):
                loss = nn.functional.cross_entropy(model(x), y)
                acc.backward(loss)
                if acc.sync_gradients:
                    acc.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad()          # a no-op between syncs
            total += loss.item()
        model.eval()
        hits = 0
        for x, y in test:
            with torch.inference_mode():
                hits += (model(x).argmax(1) == y).sum().item()
        acc.print(f"epoch {ep + 1} loss {total / len(train):.4f} test acc {hits / 300:.3f} lr {sched.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
