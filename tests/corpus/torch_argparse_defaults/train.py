#!/usr/bin/env python
import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def parse_args():
    parser = argparse.ArgumentParser(description="train a two-layer net (try --lr 0.1)")
    parser.add_argument("--batch-size", type=int, default=20, metavar="N", help="rows in a batch (default: 64)")
    parser.add_argument("-e", "--epochs", type=int, default=7)
    parser.add_argument("--lr", "--learning-rate", dest="learning_rate", type=float, default=3e-3)
    parser.add_argument("--hidden", type=int, default=30)
    parser.add_argument("--dropout", type=float, default=0.15)
    parser.add_argument("--wd", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1234)
    parser.add_argument("--log-interval", type=int, default=100)
    parser.add_argument("--no-cuda", action="store_true")
    return parser.parse_args()


class Classifier(nn.Module):
    def __init__(self, hidden, dropout):
        super().__init__()
        self.l1 = nn.Linear(8, hidden)
        self.drop = nn.Dropout(dropout)
        self.l2 = nn.Linear(hidden, 4)

    def forward(self, x):
        return self.l2(self.drop(torch.relu(self.l1(x))))


def main():
    args = parse_args()
    torch.manual_seed(args.seed)
    device = torch.device("cpu" if args.no_cuda or not torch.cuda.is_available() else "cuda")

    x = torch.randn(280, 8)
    y = (x[:, 0] > 0).long() * 2 + (x[:, 1] + x[:, 2] > 0).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=args.batch_size, shuffle=True)

    model = Classifier(args.hidden, args.dropout).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate, weight_decay=args.wd)
    for epoch in range(1, args.epochs + 1):
        model.train()
        for i, (xb, yb) in enumerate(loader):
            xb, yb = xb.to(device), yb.to(device)
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
            if i % args.log_interval == 0:
                print("Train Epoch: {} Loss: {:.6f}".format(epoch, loss.item()))
    model.eval()
    with torch.no_grad():
        print("accuracy={:.3f}".format((model(x.to(device)).argmax(1).cpu() == y).float().mean().item()))


if __name__ == "__main__":
    main()
