"""python -m glyphs.train"""

import argparse

import torch

from glyphs.data import get_loaders
from glyphs.engine import train_epoch, validate
from glyphs.model import SmallCNN


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    train_loader, valid_loader = get_loaders(args.batch_size, args.seed)
    model = SmallCNN()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(1, args.epochs + 1):
        train_loss, train_acc = train_epoch(model, train_loader, optimizer)
        valid_loss, valid_acc = validate(model, valid_loader)
        print(f"{epoch:2d}  train {train_loss:.3f}/{train_acc:.3f}  valid {valid_loss:.3f}/{valid_acc:.3f}")


if __name__ == "__main__":
    main()
