import argparse
import random

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.optim.lr_scheduler import OneCycleLR


class ResUnit(nn.Module):
    def __init__(self, c_in, c_out, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(c_in, c_out, 3, stride, 1, bias=False)
        self.norm1 = nn.GroupNorm(4, c_out)
        self.conv2 = nn.Conv2d(c_out, c_out, 3, 1, 1, bias=False)
        self.norm2 = nn.GroupNorm(4, c_out)
        nn.init.zeros_(self.norm2.weight)      # the unit starts as its shortcut
        if stride != 1 or c_in != c_out:
            self.shortcut = nn.Conv2d(c_in, c_out, 1, stride, bias=False)
        else:
            self.shortcut = nn.Identity()

    def forward(self, x):
        out = torch.relu(self.norm1(self.conv1(x)))
        out = self.norm2(self.conv2(out))
        return torch.relu(out + self.shortcut(x))


class TinyResNet(nn.Module):
    def __init__(self, width=12, classes=10):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.units = nn.Sequential(ResUnit(width, width), ResUnit(width, 2 * width, 2))
        self.fc = nn.Linear(2 * width * 16, classes)

    def forward(self, x):
        x = self.units(torch.relu(self.stem(x)))
        return self.fc(x.flatten(1))


def shift(batch, rng):
    dy, dx = rng.integers(-1, 2, size=2)
    return torch.roll(batch, (int(dy), int(dx)), dims=(2, 3))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=8)
    p.add_argument("--max-lr", type=float, default=4e-3)
    p.add_argument("--smoothing", type=float, default=0.1)
    p.add_argument("--seed", type=int, default=3)
    return p.parse_args()


def main():
    args = parse()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    digits = load_digits()
    x = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 16.0
    y = torch.tensor(digits.target)
    tr, te = train_test_split(np.arange(len(y)), test_size=0.25, stratify=digits.target, random_state=args.seed)

    net = TinyResNet()
    steps = len(tr) // args.batch_size
    opt = torch.optim.AdamW(net.parameters(), lr=args.max_lr, weight_decay=1e-3)
    sched = OneCycleLR(opt, max_lr=args.max_lr, total_steps=args.epochs * steps, cycle_momentum=False)
    criterion = nn.CrossEntropyLoss(label_smoothing=args.smoothing)

    for epoch in range(args.epochs):
        net.train()
        order = rng.permutation(tr)
        losses = []
        for i in range(steps):
            take = order[i * args.batch_size:(i + 1) * args.batch_size]
            loss = criterion(net(shift(x[take], rng)), y[take])
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            opt.step()
            sched.step()
            losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            logits = net(x[te])
        acc = (logits.argmax(1) == y[te]).float().mean().item()
        print(f"[{epoch + 1}/{args.epochs}] smoothed loss {np.mean(losses):.3f}  "
              f"test nll {nn.functional.cross_entropy(logits, y[te]).item():.3f}  test acc {acc:.4f}  "
              f"lr {sched.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
