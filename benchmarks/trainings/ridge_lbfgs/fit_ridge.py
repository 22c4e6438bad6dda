"""Strongly regularised softmax regression on many noisy columns, fitted with LBFGS on the whole table."""
import argparse

import numpy as np
import torch
import torch.nn.functional as F
from sklearn.linear_model import LogisticRegression


def wide_table(n, d, k, seed):
    w = np.random.default_rng(0).normal(size=(d, k)) * (np.arange(d)[:, None] < 30)
    r = np.random.default_rng(seed)
    x = r.normal(size=(n, d)).astype(np.float32)
    y = (0.6 * x @ w + r.gumbel(size=(n, k))).argmax(1)
    return torch.from_numpy(x), torch.from_numpy(y)


class Softmax(torch.nn.Module):
    def __init__(self, d, k):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.zeros(d, k))      # convex: zero is a fine start
        self.bias = torch.nn.Parameter(torch.zeros(k))

    def forward(self, x):
        return x @ self.weight + self.bias


def fit(x, y, k, penalty, rounds):
    model = Softmax(x.shape[1], k)
    opt = torch.optim.LBFGS(model.parameters(), lr=1.0, max_iter=20, history_size=10, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y, reduction="sum") + 0.5 * penalty * model.weight.pow(2).sum()
        loss.backward()
        return loss

    trace = [opt.step(closure).item() / len(x) for _ in range(rounds)]
    return model, trace


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--n", type=int, default=500)
    ap.add_argument("--d", type=int, default=400)
    ap.add_argument("--k", type=int, default=4)
    ap.add_argument("--rounds", type=int, default=6)
    a = ap.parse_args()
    x, y = wide_table(a.n, a.d, a.k, 1)
    xt, yt = wide_table(4000, a.d, a.k, 2)
    for penalty in (1e-3, 10.0, 100.0, 400.0):
        model, trace = fit(x, y, a.k, penalty, a.rounds)
        with torch.no_grad():
            out = model(xt)
        acc = (out.argmax(1) == yt).float().mean().item()
        print(f"penalty {penalty:7.3f} objective {trace[0]:.3f} -> {trace[-1]:.3f} test acc {acc:.3f} test loss {F.cross_entropy(out, yt):.3f}")
    ref = LogisticRegression(C=1 / 400, max_iter=500).fit(x.numpy(), y.numpy()).score(xt.numpy(), yt.numpy())
    print(f"sklearn at the last penalty {ref:.3f}; most frequent class {yt.bincount().max().item() / len(yt):.3f}")


if __name__ == "__main__":
    main()
