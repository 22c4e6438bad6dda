"""Benign or malignant from cell measurements (scikit-learn's breast cancer set), options on the command line."""

import argparse

import numpy as np
import torch
import torch.nn as nn
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def get_args():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--weight-decay", type=float, default=0.5, help="L2 penalty")
    parser.add_argument("--batch-size", type=int, default=32)
    parser.add_argument("--seed", type=int, default=7)
    return parser.parse_args()


def get_data(seed):
    data = load_breast_cancer()
    x_train, x_val, y_train, y_val = train_test_split(
        data.data, data.target, test_size=0.3, stratify=data.target, random_state=seed
    )
    scaler = StandardScaler().fit(x_train)
    as_float = lambda a: torch.tensor(scaler.transform(a), dtype=torch.float32)
    return as_float(x_train), torch.tensor(y_train).float(), as_float(x_val), torch.tensor(y_val).float()


class Net(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.stack = nn.Sequential(
            nn.Linear(n_in, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, 1),
        )

    def forward(self, x):
        return self.stack(x).flatten()


def main(args):
    torch.manual_seed(args.seed)
    np.random.seed(args.seed)
    x_train, y_train, x_val, y_val = get_data(args.seed)
    net = Net(x_train.shape[1], args.hidden)
    optimizer = torch.optim.Adam(net.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    loss_fn = nn.BCEWithLogitsLoss()

    for epoch in range(args.epochs):
        net.train()
        order = torch.randperm(len(x_train))
        losses = []
        for rows in order.split(args.batch_size):
            optimizer.zero_grad()
            loss = loss_fn(net(x_train[rows]), y_train[rows])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        if (epoch + 1) % 10 == 0:
            net.eval()
            with torch.no_grad():
                logits = net(x_val)
            val_loss = loss_fn(logits, y_val).item()
            bal = balanced_accuracy_score(y_val.numpy(), (logits > 0).numpy())
            norm = sum(p.pow(2).sum() for p in net.parameters()).sqrt().item()
            print(f"[{epoch + 1}] train {np.mean(losses):.4f} val {val_loss:.4f} bal_acc {bal:.3f} |w| {norm:.3f}")


if __name__ == "__main__":
    main(get_args())
