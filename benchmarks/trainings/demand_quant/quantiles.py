"""Demand quantiles (10, 50, 90 percent) from tabular data with the pinball loss."""
import numpy as np
import torch
import torch.nn as nn
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.utils.data import DataLoader, TensorDataset

SEED = 61
QUANTILES = torch.tensor([0.1, 0.5, 0.9])


def shop_days(n=5000):
    rng = np.random.default_rng(SEED)
    price = rng.uniform(1, 5, n)
    promo = rng.random(n) < 0.2
    temp = rng.normal(15, 8, n)
    weekday = rng.integers(0, 7, n)
    mean = 80 - 9 * price + 25 * promo + 0.8 * temp + 12 * (weekday >= 5)
    spread = 4 + 2.0 * price + 8 * promo
    demand = mean + spread * rng.standard_t(5, n)
    onehot = np.eye(7)[weekday]
    return np.column_stack([price, promo, temp]), onehot, demand


class QuantileNet(nn.Module):
    """Median plus positive distances, so that the quantiles cannot cross."""

    def __init__(self, n_in, hidden=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.out = nn.Linear(hidden, 3)

    def forward(self, x):
        mid, down, up = self.out(self.body(x)).unbind(-1)
        softplus = nn.functional.softplus
        return torch.stack([mid - softplus(down), mid, mid + softplus(up)], dim=-1)


def pinball(pred, y):
    diff = y.unsqueeze(-1) - pred
    return torch.maximum(QUANTILES * diff, (QUANTILES - 1) * diff).mean()


def main():
    np.random.seed(SEED)
    torch.manual_seed(SEED)
    numeric, onehot, demand = shop_days()
    tr, te = train_test_split(np.arange(len(demand)), test_size=0.25, random_state=SEED)
    sx = StandardScaler().fit(numeric[tr])
    sy = StandardScaler().fit(demand[tr, None])
    x = np.hstack([sx.transform(numeric), onehot]).astype(np.float32)
    y = sy.transform(demand[:, None]).astype(np.float32).ravel()
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    loader = DataLoader(TensorDataset(x[tr], y[tr]), batch_size=128, shuffle=True)

    model = QuantileNet(x.shape[1])
    opt = torch.optim.AdamW(model.parameters(), lr=3e-3)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 15)
    for epoch in range(15):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = pinball(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        sched.step()
        if epoch % 3 == 2:
            model.eval()
            with torch.no_grad():
                q = model(x[te])
            cover = ((y[te] > q[:, 0]) & (y[te] < q[:, 2])).float().mean().item()
            print(f"epoch {epoch + 1:2d} pinball train {total / len(loader):.4f} test {pinball(q, y[te]).item():.4f} coverage of 80% band {cover:.3f}")
    base = torch.quantile(y[tr], QUANTILES).expand(len(te), 3)
    print(f"constant quantiles: test pinball {pinball(base, y[te]).item():.4f}")


if __name__ == "__main__":
    main()
