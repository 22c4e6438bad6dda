"""Semi-supervised node classification on a stochastic block graph with noisy bag-of-words features."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn


def block_graph(n, classes, seed):
    r = np.random.default_rng(seed)
    y = r.integers(0, classes, n)
    same = y[:, None] == y[None, :]
    prob = np.where(same, 8.0 / n, 2.0 / n)
    a = np.triu(r.random((n, n)) < prob, 1)
    a = (a | a.T).astype(np.float32)
    topic = r.random((classes, 200)) < 0.12
    words = r.random((n, 200)) < np.where(topic[y], 0.07, 0.035)
    return a, words.astype(np.float32), y


def normalise(a):
    a = a + np.eye(len(a), dtype=np.float32)
    d = 1 / np.sqrt(a.sum(1))
    return torch.from_numpy(d[:, None] * a * d[None, :]).to_sparse()


class GCN(nn.Module):
    def __init__(self, d, h, k, drop):
        super().__init__()
        self.w1, self.w2, self.drop = nn.Linear(d, h), nn.Linear(h, k), drop

    def forward(self, adj, x):
        x = F.dropout(x, self.drop, self.training)
        x = F.relu(torch.sparse.mm(adj, self.w1(x)))
        x = F.dropout(x, self.drop, self.training)
        return torch.sparse.mm(adj, self.w2(x))


def splits(n, seed):
    perm = torch.randperm(n, generator=torch.Generator().manual_seed(seed))
    masks = torch.zeros(3, n, dtype=torch.bool)
    masks[0, perm[: n // 5]] = True
    masks[1, perm[n // 5: 2 * n // 5]] = True
    masks[2, perm[2 * n // 5:]] = True
    return masks


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--nodes", type=int, default=1000)
    ap.add_argument("--classes", type=int, default=5)
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--epochs", type=int, default=200)
    ap.add_argument("--lr", type=float, default=0.02)
    ap.add_argument("--dropout", type=float, default=0.3)
    ap.add_argument("--wd", type=float, default=5e-4)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)

    a, x, y = block_graph(args.nodes, args.classes, args.seed)
    adj, x, y = normalise(a), torch.from_numpy(x), torch.from_numpy(y)
    train_mask, val_mask, test_mask = splits(args.nodes, args.seed)
    model = GCN(x.shape[1], args.hidden, args.classes, args.dropout)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr, weight_decay=args.wd)

    best_val = best_test = 0.0
    for epoch in range(1, args.epochs + 1):
        model.train()
        opt.zero_grad()
        out = model(adj, x)
        loss = F.cross_entropy(out, y)
        loss.backward()
        opt.step()
        model.eval()
        with torch.no_grad():
            pred = model(adj, x).argmax(1)
        acc = [(pred[m] == y[m]).float().mean().item() for m in (train_mask, val_mask, test_mask)]
        if acc[1] > best_val:
            best_val, best_test = acc[1], acc[2]
        if epoch % 40 == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} train {acc[0]:.3f} val {acc[1]:.3f} test {acc[2]:.3f}")
    print(f"best val {best_val:.3f}, test there {best_test:.3f}")


if __name__ == "__main__":
    main()
