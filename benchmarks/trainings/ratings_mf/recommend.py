"""Matrix factorisation with biases on catalogue ratings."""
import logging
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", level=logging.INFO)
LOG = logging.getLogger(__name__)


@dataclass
class Settings:
    users: int = 300
    items: int = 200
    per_user: int = 60
    factors: int = 12
    epochs: int = 15
    batch: int = 256
    lr: float = 0.02
    reg: float = 2e-4
    seed: int = 0


def ratings_table(s):
    """(user, article number, rating). Article numbers come from the shop's catalogue and have gaps."""
    r = np.random.default_rng(s.seed)
    p, q = r.normal(0, 0.5, (s.users, 4)), r.normal(0, 1.0, (s.items, 4))
    bu, bi = r.normal(0, 0.3, s.users), r.normal(0, 0.7, s.items)
    article = np.sort(r.choice(np.arange(1, 900), s.items, replace=False))
    rows = []
    for u in range(s.users):
        for i in r.choice(s.items, s.per_user, replace=False):
            score = 3.0 + bu[u] + bi[i] + p[u] @ q[i] + r.normal(0, 0.3)
            rows.append((u, article[i], np.clip(score, 1, 5)))
    rows = np.array(rows)
    r.shuffle(rows)
    return rows[:, 0].astype(int), rows[:, 1].astype(int), rows[:, 2].astype(np.float32)


class BiasedMF(nn.Module):
    def __init__(self, n_users, n_items, k, mean):
        super().__init__()
        self.n_items = n_items
        self.user, self.item = nn.Embedding(n_users, k), nn.Embedding(n_items, k)
        self.user_bias, self.item_bias = nn.Embedding(n_users, 1), nn.Embedding(n_items, 1)
        self.register_buffer("mean", torch.tensor(mean))
        for e in (self.user, self.item):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_bias, self.item_bias):
            nn.init.zeros_(e.weight)

    def forward(self, u, i):
        i = i.clamp(max=self.n_items - 1)
        dot = (self.user(u) * self.item(i)).sum(-1)
        return self.mean + dot + self.user_bias(u)[:, 0] + self.item_bias(i)[:, 0]


def rmse(model, u, i, y):
    model.eval()
    with torch.no_grad():
        return (model(u, i).clamp(1, 5) - y).pow(2).mean().sqrt().item()


def main():
    s = Settings()
    torch.manual_seed(s.seed)
    u, i, y = map(torch.from_numpy, ratings_table(s))
    n = int(0.85 * len(y))
    model = BiasedMF(s.users, len(torch.unique(i)), s.factors, float(y[:n].mean()))
    loader = DataLoader(TensorDataset(u[:n], i[:n], y[:n]), s.batch, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=s.lr, weight_decay=s.reg)
    sched = torch.optim.lr_scheduler.ExponentialLR(opt, 0.85)
    LOG.info("%d ratings, %d users, %d articles", len(y), s.users, len(torch.unique(i)))
    for ep in range(s.epochs):
        model.train()
        total = 0.0
        for ub, ib, yb in loader:
            loss = nn.functional.mse_loss(model(ub, ib), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(yb)
        sched.step()
        if ep % 3 == 2:
            LOG.info("epoch %d train mse %.4f test rmse %.4f", ep + 1, total / n, rmse(model, u[n:], i[n:], y[n:]))
    base = (y[n:] - y[:n].mean()).pow(2).mean().sqrt().item()
    LOG.info("test rmse %.4f (constant predictor %.4f)", rmse(model, u[n:], i[n:], y[n:]), base)


if __name__ == "__main__":
    main()
