"""Binary segmentation of bright cells on a cluttered background with a small U-Net."""
import argparse
import random

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


class Cells(Dataset):
    def __init__(self, n, side=24, train=True, seed=0):
        self.train = train
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:side, :side]
        self.images, self.masks = [], []
        for _ in range(n):
            img = rng.normal(0, 0.35, (side, side)) + 0.5 * np.sin(xx / rng.uniform(2, 6) + rng.uniform(0, 6))
            mask = np.zeros((side, side), bool)
            for _ in range(rng.integers(1, 4)):
                cy, cx = rng.uniform(3, side - 3, 2)
                a, b = rng.uniform(2.0, 4.5, 2)
                mask |= ((yy - cy) / a) ** 2 + ((xx - cx) / b) ** 2 < 1
            img[mask] += 1.6
            self.images.append(img.astype(np.float32))
            self.masks.append(mask.astype(np.float32))

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        img, mask = self.images[i], self.masks[i]
        if self.train:
            if random.random() < 0.5:
                img = img[:, ::-1]
            if random.random() < 0.5:
                img, mask = img[::-1], mask[::-1]
            img = img * random.uniform(0.9, 1.1)
        return torch.from_numpy(img.copy())[None], torch.from_numpy(mask.copy())[None]


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU(),
                         nn.Conv2d(o, o, 3, padding=1), nn.GroupNorm(4, o), nn.ReLU())


class UNet(nn.Module):
    def __init__(self, w=8):
        super().__init__()
        self.d1, self.d2 = block(1, w), block(w, 2 * w)
        self.mid = block(2 * w, 2 * w)
        self.u2, self.u1 = block(4 * w, w), block(2 * w, w)
        self.out = nn.Conv2d(w, 1, 1)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        y = self.u2(torch.cat([F.interpolate(m, scale_factor=2), b], 1))
        y = self.u1(torch.cat([F.interpolate(y, scale_factor=2), a], 1))
        return self.out(y)


def loss_fn(logits, mask):
    p = logits.sigmoid()
    dice = 1 - (2 * (p * mask).sum((1, 2, 3)) + 1) / ((p + mask).sum((1, 2, 3)) + 1)
    return F.binary_cross_entropy_with_logits(logits, mask) + dice.mean()


@torch.no_grad()
def mean_iou(model, loader):
    model.eval()
    inter = union = 0.0
    for x, m in loader:
        p = model(x) > 0
        inter += (p & (m > 0.5)).sum().item()
        union += (p | (m > 0.5)).sum().item()
    return inter / union


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--batch", type=int, default=16)
    ap.add_argument("--lr", type=float, default=4e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    random.seed(args.seed)
    torch.manual_seed(args.seed)
    train = DataLoader(Cells(400, train=True, seed=1), args.batch, shuffle=True)
    val = DataLoader(Cells(120, train=False, seed=2), 40)
    model = UNet()
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=args.epochs * len(train))
    for ep in range(args.epochs):
        model.train()
        tot = 0.0
        for x, m in train:
            loss = loss_fn(model(x), m)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            tot += loss.item()
        print(f"epoch {ep + 1} loss {tot / len(train):.4f} val IoU {mean_iou(model, val):.4f}")


if __name__ == "__main__":
    main()
