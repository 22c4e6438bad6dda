"""python -m soilmap.train --epochs 12"""
import argparse

import torch
from torch import nn

from .data import CLASSES, FEATURES, loaders
from .model import SoilNet


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", type=int, default=15)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=1e-3)
    return p.parse_args()


def evaluate(model, loader):
    model.eval()
    loss = hits = n = 0
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            loss += nn.functional.cross_entropy(out, y, reduction="sum").item()
            hits += (out.argmax(1) == y).sum().item()
            n += len(y)
    return loss / n, hits / n


def main():
    args = parse()
    torch.manual_seed(0)
    train, val = loaders(args.batch_size)
    model = SoilNet(len(FEATURES), len(CLASSES))
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        model.train()
        for x, y in train:
            opt.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            opt.step()
        tl, ta = evaluate(model, train)
        vl, va = evaluate(model, val)
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1:2d}  train {tl:.3f}/{ta:.3f}  val {vl:.3f}/{va:.3f}")


if __name__ == "__main__":
    main()
