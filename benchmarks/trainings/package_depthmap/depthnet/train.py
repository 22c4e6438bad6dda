"""python -m depthnet.train"""
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader

from .data import DiscScenes
from .model import SmallUNet

IGNORE = 255


def soft_dice(logits, target):
    keep = (target != IGNORE).float()
    p = logits.softmax(1)[:, 1] * keep
    t = (target == 1).float()
    inter = (p * t).sum((1, 2))
    return 1 - ((2 * inter + 1) / (p.sum((1, 2)) + t.sum((1, 2)) + 1)).mean()


@torch.no_grad()
def iou(model, loader):
    model.eval()
    inter = union = 0
    for x, y in loader:
        g = model(x).argmax(1)
        keep = y != IGNORE
        inter += ((g == 1) & (y == 1) & keep).sum().item()
        union += (((g == 1) | (y == 1)) & keep).sum().item()
    model.train()
    return inter / max(1, union)


def split_decay(model, wd):
    thick = [p for p in model.parameters() if p.ndim > 1]
    thin = [p for p in model.parameters() if p.ndim <= 1]
    return [{"params": thick, "weight_decay": wd}, {"params": thin, "weight_decay": 0.0}]


def main(argv=None):
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--accum", type=int, default=4)
    ap.add_argument("--lr", type=float, default=4e-3)
    args = ap.parse_args(argv)
    torch.manual_seed(53)

    train = DataLoader(DiscScenes(400, 1), batch_size=2, shuffle=True)
    test_set = DiscScenes(80, 2)
    test = DataLoader(test_set, batch_size=40)
    inside = sum((m == 1).sum().item() for m in test_set.masks)
    scored = sum((m != IGNORE).sum().item() for m in test_set.masks)
    print(f"IoU if every pixel is called a disc: {inside / scored:.3f}")

    model = SmallUNet()
    opt = torch.optim.AdamW(split_decay(model, 0.05), lr=args.lr)
    ce = nn.CrossEntropyLoss(ignore_index=IGNORE, weight=torch.tensor([1.0, 1.5]))
    updates = args.epochs * len(train) // args.accum
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, args.lr, total_steps=updates)
    for epoch in range(1, args.epochs + 1):
        total = 0.0
        opt.zero_grad()
        for i, (x, y) in enumerate(train, 1):
            logits = model(x)
            loss = ce(logits, y) + 0.5 * soft_dice(logits, y)
            (loss / args.accum).backward()
            total += loss.item()
            if i % args.accum == 0:
                nn.utils.clip_grad_norm_(model.parameters(), 2.0)
                opt.step()
                sched.step()
                opt.zero_grad()
        print(f"epoch {epoch} loss {total / len(train):.4f} test IoU {iou(model, test):.4f}")


if __name__ == "__main__":
    main()
