"""python -m plankton: memory-limited training with two images per step."""
import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from .images import SHAPES, Plankton
from .network import PlanktonNet


@torch.no_grad()
def per_class_accuracy(model, loader):
    model.eval()
    hits = torch.zeros(len(SHAPES))
    count = torch.zeros(len(SHAPES))
    for x, y in loader:
        ok = (model(x).argmax(1) == y).float()
        hits += torch.bincount(y, weights=ok, minlength=len(SHAPES))
        count += torch.bincount(y, minlength=len(SHAPES))
    return hits / count, (hits.sum() / count.sum()).item()


def main():
    parser = argparse.ArgumentParser(prog="plankton")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--lr", type=float, default=0.01)
    args = parser.parse_args()
    torch.manual_seed(13)
    train = DataLoader(Plankton(900, 0), batch_size=args.batch, shuffle=True)
    val = DataLoader(Plankton(300, 1), batch_size=100)
    model = PlanktonNet()
    opt = torch.optim.SGD(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs)
    for epoch in range(args.epochs):
        model.train()
        total = 0.0
        for x, y in train:
            loss = F.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        by_class, acc = per_class_accuracy(model, val)
        detail = " ".join(f"{n} {a:.2f}" for n, a in zip(SHAPES, by_class.tolist()))
        print(f"epoch {epoch}: loss {total / len(train):.4f} val_acc {acc:.4f} ({detail})")


if __name__ == "__main__":
    main()
