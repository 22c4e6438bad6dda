"""Parcel damage classifier: mixed precision with gradient accumulation.

Images of parcels are simulated as 16x16 height maps with dents of three kinds.
"""
import argparse
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
USE_AUTOCAST = DEVICE == "cuda"  # half precision only where the hardware has it


def make_parcels(n, generator):
    """Three classes: round dent, long crease, corner crush."""
    yy, xx = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
    images = torch.zeros(n, 1, 16, 16)
    labels = torch.randint(0, 3, (n,), generator=generator)
    for i in range(n):
        cx, cy = torch.rand(2, generator=generator) * 8 + 4
        if labels[i] == 0:
            bump = torch.exp(-((xx - cx) ** 2 + (yy - cy) ** 2) / 6.0)
        elif labels[i] == 1:
            ang = torch.rand(1, generator=generator).item() * math.pi
            d = (xx - cx) * math.sin(ang) - (yy - cy) * math.cos(ang)
            bump = torch.exp(-d ** 2 / 1.5)
        else:
            kx, ky = torch.randint(0, 2, (2,), generator=generator) * 15
            bump = torch.exp(-((xx - kx).abs() + (yy - ky).abs()) / 4.0)
        images[i, 0] = bump
    images += 0.35 * torch.randn(images.shape, generator=generator)
    return images, labels


class DentNet(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.inp = nn.Linear(256, width)
        self.norm1 = nn.LayerNorm(width)
        self.mid = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.out = nn.Linear(width, 3)

    def forward(self, x):
        x = F.relu(self.norm1(self.inp(x.flatten(1))))
        x = F.relu(self.norm2(self.mid(x)))
        return self.out(x)


def evaluate(model, loader):
    model.eval()
    hits = total = 0
    with torch.no_grad(), torch.autocast(DEVICE, dtype=torch.float16, enabled=USE_AUTOCAST):
        for x, y in loader:
            pred = model(x.to(DEVICE)).argmax(1).cpu()
            hits += (pred == y).sum().item()
            total += y.numel()
    return hits / total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--micro-batch", type=int, default=16)
    ap.add_argument("--accum", type=int, default=4)
    ap.add_argument("--lr", type=float, default=0.05)
    ap.add_argument("--max-norm", type=float, default=1.0)
    args = ap.parse_args()

    torch.manual_seed(0)
    g = torch.Generator().manual_seed(11)
    train_ds = TensorDataset(*make_parcels(2432, g))
    val_ds = TensorDataset(*make_parcels(600, g))
    train_loader = DataLoader(train_ds, batch_size=args.micro_batch, shuffle=True, drop_last=True)
    val_loader = DataLoader(val_ds, batch_size=200)

    model = DentNet().to(DEVICE)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9, nesterov=True)
    scaler = torch.amp.GradScaler(DEVICE)

    for epoch in range(args.epochs):
        model.train()
        opt.zero_grad(set_to_none=True)
        epoch_loss = 0.0
        for i, (x, y) in enumerate(train_loader):
            with torch.autocast(DEVICE, dtype=torch.float16, enabled=USE_AUTOCAST):
                logits = model(x.to(DEVICE))
                loss = F.cross_entropy(logits, y.to(DEVICE)) / args.accum
            scaler.scale(loss).backward()
            epoch_loss += loss.item() * args.accum
            if (i + 1) % args.accum == 0:
                torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_norm)
                scaler.step(opt)
                scaler.update()
                opt.zero_grad(set_to_none=True)
        acc = evaluate(model, val_loader)
        print(f"[{epoch + 1}/{args.epochs}] loss {epoch_loss / len(train_loader):.4f}  val acc {acc:.3f}  scale {scaler.get_scale():.0f}")


if __name__ == "__main__":
    main()
