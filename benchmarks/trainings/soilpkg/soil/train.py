"""python -m soil.train"""
import argparse

import torch
import torch.nn.functional as F

from .data import loaders
from .model import SpectrumNet


def parse():
    p = argparse.ArgumentParser(prog="soil.train")
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=48)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=10)
    return p.parse_args()


def evaluate(net, loader):
    net.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for x, y in loader:
            out = net(x)
            loss += F.cross_entropy(out, y, reduction="sum").item()
            hits += int((out.argmax(1) == y).sum())
            count += len(y)
    return loss / count, hits / count


def train(args):
    torch.manual_seed(args.seed)
    train_loader, test_loader = loaders(args.batch_size, args.seed)
    net = SpectrumNet()
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        net.train()
        loss_sum = hits = count = 0
        for x, y in train_loader:
            out = net(x)
            loss = F.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            loss_sum += loss.item() * len(y)
            hits += int((out.argmax(1) == y).sum())
            count += len(y)
        test_loss, test_acc = evaluate(net, test_loader)
        print(f"epoch {epoch}: train loss {loss_sum / count:.4f} acc {hits / count:.3f} | test loss {test_loss:.4f} acc {test_acc:.3f}")


if __name__ == "__main__":
    train(parse())
