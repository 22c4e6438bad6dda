"""python -m gait.train"""
import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader

from .data import AXES, STYLES, WINDOW, make_splits
from .model import GaitEncoder


@torch.no_grad()
def evaluate(model, loader):
    model.eval()
    right, loss, seen = 0, 0.0, 0
    for x, y in loader:
        logits = model(x)
        loss += F.cross_entropy(logits, y, reduction="sum").item()
        right += (logits.argmax(1) == y).sum().item()
        seen += len(y)
    return loss / seen, right / seen


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=9)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=17)
    args = ap.parse_args()

    torch.manual_seed(args.seed)
    train_set, val_set = make_splits(2400, 600, args.seed)
    train = DataLoader(train_set, batch_size=args.batch_size, shuffle=True, drop_last=True)
    val = DataLoader(val_set, batch_size=200)

    model = GaitEncoder(AXES, STYLES, WINDOW)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.01)
    sched = torch.optim.lr_scheduler.OneCycleLR(
        opt, max_lr=args.lr, total_steps=args.epochs * len(train), pct_start=0.15
    )
    for epoch in range(1, args.epochs + 1):
        model.train()
        running = 0.0
        for x, y in train:
            opt.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            sched.step()
            running += loss.item()
        vl, va = evaluate(model, val)
        print(f"epoch {epoch:2d}  train {running / len(train):.3f}  val {vl:.3f}  acc {va:.3f}", flush=True)


if __name__ == "__main__":
    main()
