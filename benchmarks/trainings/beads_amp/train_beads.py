"""Bead sorting with bfloat16 autocast, gradient accumulation and clipping."""
import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def beads(n, seed):
    """Eight colour/size readings; five bead kinds on overlapping curved clusters."""
    g = torch.Generator().manual_seed(seed)
    kind = torch.randint(0, 5, (n,), generator=g)
    u = torch.rand(n, generator=g) * 2 - 1
    centre = torch.randn(5, 8, generator=torch.Generator().manual_seed(0)) * 1.5
    bend = torch.randn(5, 8, generator=torch.Generator().manual_seed(1))
    x = centre[kind] + bend[kind] * u[:, None] + 0.6 * bend[kind].roll(1, 1) * u[:, None] ** 2
    return x + 0.5 * torch.randn(n, 8, generator=g), kind


class BeadNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 5))

    def forward(self, x):
        return self.net(x)


def autocast():
    return torch.autocast(device.type, dtype=torch.bfloat16)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    good = count = 0
    for x, y in loader:
        with autocast():
            logits = model(x.to(device))
        good += (logits.float().argmax(1).cpu() == y).sum().item()
        count += len(y)
    return good / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--micro", type=int, default=16)
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--lr", type=float, default=5e-3)
    args = parser.parse_args()

    torch.manual_seed(19)
    train = DataLoader(TensorDataset(*beads(1920, 2)), batch_size=args.micro, shuffle=True)
    val = DataLoader(TensorDataset(*beads(500, 3)), batch_size=250)
    model = BeadNet().to(device)
    opt = torch.optim.AdamW(model.parameters(), lr=args.lr)
    updates = (len(train) + args.accumulate - 1) // args.accumulate * args.epochs
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=args.lr, total_steps=updates)

    for epoch in range(args.epochs):
        model.train()
        opt.zero_grad(set_to_none=True)
        total = 0.0
        for i, (x, y) in enumerate(train):
            with autocast():
                logits = model(x.to(device))
            loss = F.cross_entropy(logits.float(), y.to(device))
            (loss / args.accumulate).backward()
            total += loss.item()
            if (i + 1) % args.accumulate == 0 or i + 1 == len(train):
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                opt.step()
                sched.step()
                opt.zero_grad(set_to_none=True)
        print(f"epoch {epoch + 1}: loss {total / len(train):.4f} val acc {accuracy(model, val):.4f}")


if __name__ == "__main__":
    main()
