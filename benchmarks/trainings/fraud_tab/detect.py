"""Rare-event detection on card transactions (simulated, about 3 % positive)."""
import argparse

import numpy as np
import torch
import torch.nn as nn
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler


def transactions(n, seed):
    r = np.random.default_rng(seed)
    amount = r.lognormal(3.0, 1.0, n)
    hour = r.uniform(0, 24, n)
    age = r.exponential(300, n)
    dist = r.gamma(1.5, 20, n)
    rest = r.normal(0, 1, (n, 12))
    z = 0.5 * np.log(amount) + 0.8 * (hour < 5) + 0.010 * dist - 0.002 * age + 0.3 * rest[:, 0] * rest[:, 1]
    z = z + r.logistic(0, 1.2, n)
    y = (z > np.quantile(z, 0.97)).astype(np.int64)
    x = np.column_stack([np.log(amount), np.sin(hour / 24 * 2 * np.pi), np.cos(hour / 24 * 2 * np.pi), age / 300, dist, rest])
    return x, y


def oversample(x, y, seed):
    """Repeat the rare class until both are equally frequent."""
    r = np.random.default_rng(seed)
    pos, neg = np.where(y == 1)[0], np.where(y == 0)[0]
    extra = r.choice(pos, len(neg) - len(pos), replace=True)
    idx = r.permutation(np.concatenate([pos, neg, extra]))
    return x[idx], y[idx]


class Net(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(d, h), nn.ReLU(), nn.Linear(h, h), nn.ReLU(), nn.Linear(h, 1))

    def forward(self, x):
        return self.f(x)[:, 0]


def fit(xtr, ytr, args):
    net = Net(xtr.shape[1], args.hidden)
    opt = torch.optim.Adam(net.parameters(), lr=args.lr)
    crit = nn.BCEWithLogitsLoss()
    x, y = torch.tensor(xtr, dtype=torch.float32), torch.tensor(ytr, dtype=torch.float32)
    for ep in range(args.epochs):
        perm = torch.randperm(len(x))
        tot = 0.0
        for i in range(0, len(x), args.batch):
            j = perm[i:i + args.batch]
            opt.zero_grad()
            loss = crit(net(x[j]), y[j])
            loss.backward()
            opt.step()
            tot += loss.item() * len(j)
        print(f"epoch {ep + 1:2d} loss {tot / len(x):.4f}")
    return net


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--n", type=int, default=8000)
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--batch", type=int, default=128)
    ap.add_argument("--hidden", type=int, default=96)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    x, y = transactions(args.n, args.seed)
    x, y = oversample(x, y, args.seed)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, random_state=args.seed, stratify=y)
    sc = StandardScaler().fit(x_train)
    net = fit(sc.transform(x_train), y_train, args)
    net.eval()
    with torch.no_grad():
        p = torch.sigmoid(net(torch.tensor(sc.transform(x_test), dtype=torch.float32))).numpy()
    print(f"test: n={len(y_test)} positives={int(y_test.sum())} "
          f"AUC {roc_auc_score(y_test, p):.3f} AP {average_precision_score(y_test, p):.3f} F1 {f1_score(y_test, p > 0.5):.3f}")


if __name__ == "__main__":
    main()
